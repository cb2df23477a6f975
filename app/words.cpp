// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/words.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace weir {

namespace {

/// `{name}` is replaced by the argument of that name, `{subject}` by what an error is about.
struct Words
{
    std::string_view id;
    std::string_view title;
    std::string_view detail;
};

constexpr auto messages = std::to_array<Words>({
    // why a component is streamed as it is
    {"reason.routed", "{active} of {experts} experts",
     "{active} of {experts} experts wake up, {layers} layers"},
    {"reason.routed-unknown", "expert count unknown",
     "the config does not say how many experts wake up: all are counted as read"},
    {"reason.shared", "every token", "fires for every token"},
    {"reason.dense", "every token", "whole matrices, every token"},
    {"reason.attention", "every token", "{layers} attention layers, every token"},
    {"reason.linear", "every token", "{layers} linear layers, every token"},
    {"reason.router", "every token", "scores all experts for every token"},
    {"reason.embed", "one row", "one row is looked up per token"},
    {"reason.embed-tied", "one row", "one row is looked up; the same table is read whole as lm_head"},
    {"reason.lookup", "a few rows", "a few rows are looked up per token"},
    {"reason.head", "every token", "whole matrix, every token"},
    {"reason.head-tied", "tied", "tied: the token table is read whole, every token; it is resident once"},
    {"reason.draft", "idle", "idle until speculation is on"},
    {"reason.draft-unlisted", "idle", "idle until speculation is on; in a file that the index does not list"},
    {"reason.vision", "idle", "idle without images in the prompt"},
    {"reason.audio", "idle", "idle without audio in the prompt"},
    {"reason.norm", "every token", "small vectors, every token"},
    {"reason.other", "every token", "not recognized or too small to name; counted as read"},
    {"reason.unseen", "not seen",
     "published size beyond the tensors known; its header was not seen, so it counts as resident and not as "
     "read"},

    // notes on a checkpoint
    {"checkpoint.unknown-architecture", "Unknown architecture",
     "No rule knows the architecture “{architecture}”: its tensors were sorted by general naming rules, so "
     "components may be off."},
    {"checkpoint.unknown-tensors", "Unknown tensors",
     "{patterns} tensor name patterns with {bytes} match no rule and are counted as “other”, read for every "
     "token: {names}."},
    {"checkpoint.head-missing", "No lm_head stored",
     "The config says that the tables are not tied, but no lm_head is stored: the token table is counted as "
     "the head."},
    {"checkpoint.draft-announced-only", "No draft head",
     "The config announces {layers} draft (MTP) layers, but the files hold no such tensors: built-in "
     "speculation is not available."},
    {"checkpoint.draft-undeclared", "Draft head not in the config",
     "The files hold a draft (MTP) head of {bytes} that the config does not mention: it is counted, and "
     "engines "
     "that go by the config may leave it out."},
    {"checkpoint.parameters-unknown", "Parameters unknown",
     "How many weights {bytes} of {method} tensors stand for is not told by their layout: bytes are exact, "
     "but "
     "parameters leave these tensors out."},
    {"checkpoint.quantization-contradicted", "Not as quantized as declared",
     "The config declares {claim} at {bits} bits, but {bytes} of the {weights} of weights ({percent} %) are "
     "matrices in plain {dtype}, most of them in {component}: sizes are those of what is stored."},
    {"checkpoint.name-contradicted", "Not as quantized as named",
     "Name or label promise “{claim}” ({bits} bits), but {bytes} of the {weights} of weights ({percent} %) "
     "are "
     "matrices in plain {dtype}, most of them in {component}: sizes are those of what is stored."},
    {"checkpoint.name-understated", "Not as small as named",
     "Name or label promise “{claim}” ({bits} bits), but the decoder's matrices take {stored} bits a weight: "
     "sizes "
     "are those of what is stored."},
    {"checkpoint.experts-missing", "No experts stored",
     "The config declares {experts} experts, but no expert tensors are stored: the checkpoint is treated as "
     "dense."},
    {"checkpoint.experts-undeclared", "Expert count unknown",
     "The files hold {bytes} of experts, but the config does not say how many wake up per token: all of them "
     "are counted as read."},
    {"config.duplicate-keys", "Duplicate key", "“{file}” holds the key “{key}” twice; the last one counts."},
    {"config.side-file-unreadable", "Side file skipped",
     "“{file}” could not be read; the quantization is told from the tensors alone."},
    {"folder.unlisted-file", "File not in the index",
     "“{file}” holds {tensors} tensors ({bytes}) that the index does not list: they are on disk and counted, "
     "but engines that load by the index leave them out."},
    {"folder.unlisted-unreadable", "File skipped",
     "“{file}” is not listed by the index and could not be read; it is not counted."},
    {"folder.index-names-missing", "Tensors missing",
     "The index names {tensors} tensors that no file holds, the first is “{first}”."},
    {"folder.copies-not-counted", "Copies not counted",
     "{files} more weight files ({bytes}) are second copies, adapters or optimizer states and are not "
     "counted."},
    {"hub.several-quantizations", "One of several quantizations",
     "The repository holds {count} quantizations; this is {chosen}. The others: {others}."},
    {"hub.renamed", "Renamed", "“{from}” is now called “{to}” on the Hub."},
    {"hub.not-asked", "Not checked",
     "The Hub was not asked, or gave no answer: this is what was read here before (commit {commit}); it may "
     "have "
     "changed."},
    {"gguf.unknown-types", "Unknown tensor types",
     "Tensors are stored in types that upstream llama.cpp does not know ({types}); their sizes are taken "
     "from "
     "the file offsets."},
    {"gguf.big-endian", "Big-endian file",
     "The file is written for big-endian machines: engines on ordinary machines refuse it; convert it again "
     "for "
     "yours."},
    {"gguf.projector", "Projector beside it",
     "“{file}” ({bytes}) is the projector for images or sound: an engine that is given it needs as much "
     "memory "
     "more; it is not counted here."},
    {"pickle.not-opened", "Pickle, not opened",
     "The weights are PyTorch pickle (files: {files}, {listed}), which is never opened because it can run "
     "code: "
     "the tensors ({derived}) are derived from config.json."},
    {"pickle.dtype", "Dtype told by the sizes",
     "The size of the files fits {dtype}, not the {declared} of config.json, which would take {derived}: "
     "sizes are "
     "those of {dtype}."},
    {"pickle.size-differs", "Files and config differ",
     "The files hold {listed}, but config.json leads to {derived} ({quantization}), and no dtype fits: check "
     "that "
     "config and weights belong together."},
    {"catalog.published-size", "Published size differs",
     "The published download is {published}, {difference} more than the tensors derived here; its header was "
     "not seen. The difference counts as resident and not as read."},
    {"catalog.derived", "Derived tensors", "{text}"},
    {"quant.derived", "Imagined quantization",
     "Bytes are those of {quantization} as its tools would store it, derived from {from} ({provenance}); no "
     "such file "
     "was read."},
    {"quant.left-out", "Left out",
     "Files of this kind leave out the draft head (a GGUF file keeps it with mtp=Q4_K_M), and GGUF files the "
     "towers too: {bytes} of the source are not counted."},
    {"quant.head-copied", "Own output matrix",
     "The model uses its embedding table as lm_head too; at this quantization lm_head is a copy of its own."},

    // derived from a config
    {"derive.draft-unknown", "Draft head unknown",
     "The config announces {layers} draft (MTP) layers, but how this architecture stores them is not known: "
     "they are missing from the sizes."},
    {"derive.not-quantized", "Sizes before quantization",
     "config.json declares {method} quantization, but the tensors derived from it are the unquantized ones: "
     "read the weight files for exact bytes."},
    {"derive.index-differs", "Index and config differ",
     "The index names other tensors than config.json leads to ({patterns} name patterns, the first is "
     "{first}): sizes are those of the config."},
    {"derive.differs", "Files and config differ",
     "In {component}, the files hold {stored} parameters, where config.json leads to {derived}: check that "
     "config and weights belong together."},
    {"derive.differs-slightly", "Files and config differ a little",
     "In {component}, the files hold {stored} parameters, where config.json leads to {derived}: quantizers "
     "round sizes and drop or add small tensors."},
    {"derive.differs-draft", "Draft head differs",
     "The draft head (MTP) holds {stored} parameters, where config.json leads to {derived}: publishers often "
     "leave it out or store it in a form of their own."},
    {"derive.differs-tied", "Tied tables stored twice",
     "config.json says that lm_head is the token table, but the files hold a second copy of {stored} "
     "parameters: it is counted as stored."},
    {"derive.differs-tower", "No tower stored",
     "config.json leads to {derived} parameters of {component}, but the files hold none: this copy cannot "
     "use "
     "such input."},

    {"ollama.projector", "Tower in a file of its own",
     "The vision or audio tower of this model is a file of its own with {bytes}: it is loaded beside the "
     "weights and "
     "is not counted here."},
    {"ollama.draft", "Draft model beside it",
     "A draft model for speculation comes with this model ({bytes}): it is not counted here."},
    {"ollama.adapter", "Adapter on top",
     "Ollama loads an adapter (LoRA) of {bytes} on top of this model: it is not counted here."},
    {"ollama.several-models", "Several models in one",
     "The manifest lists {count} files of weights that are no parts of each other: the last is read, as "
     "Ollama does."},
    {"disk.denied", "A place that cannot be read",
     "{path} cannot be read by this user, so what lies there is not listed."},
    {"disk.too-many-entries", "Not all was looked through",
     "{path} holds more than {limit} files and folders: what lies beyond is not listed."},
    {"disk.too-many", "Not all is listed",
     "More than {limit} checkpoints were found: the rest is not listed."},
    {"disk.no-folder", "No such folder", "{path} is no folder, so nothing is listed of it."},
    {"disk.missing-parts", "Parts missing",
     "{found} of its {total} weight files are here: finish the download."},
    {"disk.missing-files", "Files missing",
     "Files missing or empty: {count}, the first is {first}: finish the download."},
    {"disk.unfinished", "Download unfinished", "The download of {file} did not end: start it again."},
    {"disk.not-regular", "No regular file",
     "{file} is a pipe, a device or a link to nowhere: it was not opened."},
    {"hub.snapshot", "From the download",
     "This was read from what the official client downloaded: files that were never downloaded are not "
     "counted."},
    {"hub.snapshot-partial", "Download incomplete",
     "{files} files of the downloaded snapshot are not there ({first} is the first): what they hold is not "
     "counted."},
    {"catalog.agrees", "The catalog was right",
     "The catalog had these {bytes} from a derivation; the headers read now agree with it in every "
     "component."},
    {"catalog.differs", "The catalog was wrong",
     "The headers hold {stored} of {component}, where the catalog had derived {before}: what is shown is "
     "read."},

    // provenance
    {"provenance.reconstructed", "Bytes reconstructed",
     "No header of these files was seen: the tensor list was rebuilt from the config and published totals, "
     "and is exact to every digit that was published."},
    {"provenance.config", "Bytes derived",
     "Shapes and types were derived, not read from the headers of these files."},
    {"provenance.index", "Bytes derived from the index",
     "Names come from the index, shapes from the config."},

    // draft heads
    {"draft.ships", "Ships a draft head",
     "The checkpoint ships an MTP head of {bytes}. It is idle in plain decode and this engine leaves it out "
     "unless speculation is turned on."},
    {"draft.ships-unlisted", "Ships a draft head, not in the index",
     "The checkpoint ships an MTP head of {bytes} in a file that the index does not list: reading the index "
     "alone misses it, and engines that load by the index do not find it."},

    {"checkpoint.layers-missing", "Layers missing",
     "The config declares {declared} layers, the files hold tensors of {stored}: sizes are those of what is "
     "stored."},

    // workload and memory
    {"kv.unknown", "KV cache unknown",
     "The config does not give the heads or their width for some attention layers: their cache is counted as "
     "0 bytes."},
    {"kv.declared", "KV dtype declared",
     "The checkpoint declares a {dtype} KV cache; an engine set to “auto” follows it, which halves the cache "
     "shown here."},
    {"context.beyond-model", "Beyond the model’s context",
     "{context} tokens are more than the {limit} that the model is made for."},
    {"memory.does-not-fit", "Does not fit",
     "It needs {total}, reserve included; the machine shows {usable}: {short} too much."},
    {"memory.tight", "Tight", "Only {margin} are left beyond the reserve."},
    {"memory.visible-unknown", "Visible memory unknown",
     "What the system of {machine} shows of its memory was not published; the nominal size is used."},
    {"memory.budget", "Memory budget",
     "{engine} takes {budget} at start (utilization {utilization}), whatever the model needs, and will be "
     "shown as using all of it; what the model leaves becomes KV cache."},

    // speed
    {"speed.basis-own", "Speed measured on this machine",
     "The constants were fitted to {rows} measurements of your own machine."},
    {"speed.basis-fitted", "Speed fitted",
     "The constants were fitted to {rows} published measurements of this machine and engine; a prediction "
     "for one of those checkpoints is not independent of them."},
    {"speed.basis-class", "Speed by class",
     "No fit exists for this machine and engine: constants of its class ({rows} rows behind them) are used."},
    {"speed.basis-default", "Speed by rule of thumb",
     "No measurement stands behind this speed: a general efficiency is assumed, so no band is shown."},
    {"speed.no-bandwidth", "Speed unknown",
     "No bandwidth was published for {machine}: speed is not predicted."},
    {"speed.no-constants", "Speed unknown",
     "No constants are known for {engine} on {machine}: speed is not predicted."},
    {"routing.uniform", "Routing",
     "Each token reads k of the E experts of a layer, as the router picks them."},
    {"routing.uniform-batch", "Routing assumed uniform",
     "Several sequences wake up E·(1−(1−k/E)^n) distinct experts under uniform routing; real routing is "
     "correlated and wakes fewer."},
    {"not-predicted", "Not predicted yet",
     "Prefill, time to first token, the time of a turn, the peak while loading and a safe utilization are "
     "not predicted by this version."},

    // engines
    {"load.format", "Cannot load", "{engine} does not load {format} files."},
    {"load.quantization", "Cannot load", "{engine} does not load {quantization}."},
    {"load.big-endian", "Cannot load", "{engine} does not load files in big-endian byte order."},
    {"load.vendor", "Does not run here", "{engine} does not run on {machine}."},
});

constexpr auto errors = std::to_array<Words>({
    {"cancelled", "", "Reading {subject} was cancelled."},
    {"keyring.not-built", "",
     "This build of weir knows no keyring: a token that is entered here is kept in memory until the window "
     "closes."},
    {"keyring.unavailable", "",
     "The desktop's keyring is of no use ({reason}): a token that is entered here is kept in memory until "
     "the window closes."},
    {"data.dir-missing", "",
     "The program's data folder is missing at {subject}: reinstall weir, or set WEIR_DATA_DIR to the "
     "folder."},
    {"file.empty", "", "{subject} is empty (0 bytes): download it again."},
    {"file.not-found", "", "{subject} does not exist: check the spelling of the path."},
    {"file.dangling", "", "{subject} is a link to a file that is not there: finish the download."},
    {"file.link-loop", "", "{subject} is a link that leads back to itself: put the file in its place."},
    {"file.name-too-long", "",
     "{subject} is longer than the name of a file can be: check the spelling of the path."},
    {"file.denied", "", "{subject} cannot be read: check its permissions and the disk."},
    {"file.not-regular", "",
     "{subject} is not a regular file (a device, pipe or socket): give a model folder or file."},
    {"file.too-large", "",
     "{subject} has {size}, more than the {limit} that such a file can have: it is not what its name says."},
    {"file.unknown-kind", "",
     "{subject} is no checkpoint: give a model folder, a .gguf, a .safetensors or a config.json."},
    {"json.html", "",
     "{subject} is a web page, not the file its name says: the download was probably refused; download it "
     "again."},
    {"json.lfs-pointer", "",
     "{subject} is a Git LFS pointer, not the file itself: run “git lfs pull” in the repository."},
    {"json.invalid", "", "{subject} is not valid JSON: it is damaged or cut off; download it again."},
    {"json.not-object", "", "{subject} is JSON but no object, so it is no config: download it again."},
    {"json.too-deep", "", "{subject} is nested deeper than any config: it was not read."},
    {"json.too-many-values", "",
     "{subject} holds more than {limit} values, more than any config: it was not read."},
    {"json.too-large", "", "{subject} is larger than {limit}, more than any config: it was not read."},
    {"config.bad-number", "",
     "{subject} gives a value to “{key}” that no model can have: the config is damaged or forged."},
    {"config.bad-experts", "",
     "{subject} says that {active} of {experts} experts wake up per token, which cannot be: the config is "
     "damaged or forged."},
    {"config.no-layers", "",
     "{subject} does not describe a decoder language model (no layer count; architecture {architecture}): "
     "choose a text-generation checkpoint."},
    {"config.not-language-model", "",
     "{subject} describes {architecture} ({kind}), which is no decoder language model: choose a "
     "text-generation "
     "checkpoint."},
    {"folder.no-config", "",
     "{subject} holds weights but no config.json: put the model's config.json beside them."},
    {"folder.no-model", "",
     "{subject} holds no checkpoint (no config.json, no .safetensors, no .gguf): choose a model folder."},
    {"derive.unknown-architecture", "",
     "{subject} is a config of the architecture “{architecture}”, whose tensors cannot be derived: add its "
     ".safetensors files, whose headers tell them."},
    {"derive.bad-number", "",
     "The key “{key}” in {subject} is missing or has a value that no model can have, so its tensors cannot "
     "be "
     "derived: correct it, or add the .safetensors files."},
    {"derive.too-large", "",
     "The numbers in {subject} multiply to more than any checkpoint holds: correct them, or add the "
     ".safetensors files."},
    {"folder.too-many-files", "",
     "{subject} holds {files} weight files, more than the {limit} that are read: name the one that you "
     "mean."},
    {"folder.headers-too-large", "",
     "The headers of the weight files in {subject} are larger than {limit} together: they were not read; the "
     "files are damaged or forged."},
    {"folder.no-tensors", "", "The weight files in {subject} hold no tensors: download them again."},
    {"folder.config-only", "",
     "{subject} holds no weight files of the model itself, only copies or adapters in files of other names: "
     "add the .safetensors files, or remove those to see sizes derived from config.json."},
    {"folder.pickle-only", "",
     "{subject} holds its weights as PyTorch pickle files only, which are never opened (they can run code), "
     "and "
     "its config does not tell what is in them: use a safetensors or GGUF version."},
    {"folder.other-weights", "",
     "{subject} holds its weights in a format that is not read ({file}): use a safetensors or GGUF version."},
    {"folder.missing-shard", "",
     "{subject} is missing ({missing} of {total} files that {index} lists): finish the download."},
    {"folder.shards-incomplete", "",
     "{subject} holds {found} of {total} numbered weight files and no index: finish the download."},
    {"folder.several-gguf", "", "{subject} holds {count} GGUF models, name one of them: {names}."},
    {"folder.too-large", "", "{subject} holds more than 100,000 files: choose the folder of one model."},
    {"folder.diffusion", "",
     "{subject} is a diffusion pipeline (model_index.json), no decoder language model (files: {files}, "
     "{bytes} in all)."},
    {"folder.adapter", "",
     "{subject} is an adapter (LoRA), not a whole model: assess its base, {base}, to which it adds {weights} "
     "(files: {files}, {bytes} in all)."},
    {"folder.adapter-alone", "",
     "{subject} is an adapter (LoRA), not a whole model, and does not name its base: assess that one, to "
     "which "
     "it adds {weights} (files: {files}, {bytes} in all)."},
    {"folder.embedding", "",
     "{subject} is an embedding model (sentence-transformers), it does not generate text (files: {files}, "
     "{bytes} in all)."},
    {"hub.bad-address", "", "{subject} cannot be asked for: its address is no http or https address."},
    {"hub.bad-endpoint", "",
     "HF_ENDPOINT is “{subject}”, which is no address of a Hub: give one such as https://huggingface.co."},
    {"hub.bad-reference", "",
     "“{subject}” is no name of a repository on the Hub: give org/name, org/name@revision or the address of "
     "its "
     "page."},
    {"hub.bad-token", "",
     "The Hub does not accept the access token that was sent for {subject}: make a new one on the Hub "
     "(Settings, Access Tokens), or leave it out."},
    {"hub.broken-answer", "",
     "{host} answered the request for {subject} with something else ({reason}): check that no proxy or "
     "sign-in "
     "page stands between, then try again."},
    {"hub.broken-listing", "",
     "The listing of {subject} is broken: it gives no size, or none that can be, for {file}; try again "
     "later, "
     "or open a clone of it as a folder."},
    {"hub.choice-missing", "", "{subject} holds no “{choice}”; it offers {names}."},
    {"hub.disabled", "", "{subject} was disabled on the Hub: choose another repository."},
    {"hub.dns", "",
     "The name {host} cannot be resolved, so {subject} was not read: check the network connection and "
     "HF_ENDPOINT."},
    {"hub.file-missing", "",
     "{subject} is not in the repository at this revision: check the name of the file."},
    {"hub.gated", "",
     "{subject} is gated: accept its terms on its page on the Hub, then set an access token "
     "(HF_TOKEN)."},
    {"hub.header-too-large", "",
     "The header of {subject} is larger than {limit}: it was not read; the file is damaged or forged."},
    {"hub.interrupted", "",
     "The connection to {host} broke off while {subject} was read ({reason}): try again."},
    {"hub.missing", "",
     "The Hub has no repository {subject}: check the spelling, or whether it was deleted."},
    {"hub.missing-or-private", "",
     "The Hub shows no repository {subject} without an access token: check the spelling, or set a token "
     "(HF_TOKEN) if it is private."},
    {"hub.not-granted", "",
     "{subject} is gated and your account has no access yet: ask for it on its page on the Hub, or "
     "wait "
     "until it is granted."},
    {"hub.offline", "",
     "{subject} was not read here before, and the Hub is not asked in offline mode: go online (unset "
     "HF_HUB_OFFLINE) or open a folder."},
    {"hub.proxy", "",
     "The proxy did not connect to {host} for {subject} ({reason}): check HTTPS_PROXY and NO_PROXY."},
    {"hub.rate-limited", "",
     "The Hub takes no more requests for now, so {subject} was not read: try again in a few minutes."},
    {"hub.rate-limited-anonymous", "",
     "The Hub takes no more requests for now, so {subject} was not read: try again in a few minutes, or set "
     "an "
     "access token (HF_TOKEN) for a higher limit."},
    {"hub.rate-limited-anonymous-until", "",
     "The Hub takes no more requests for now, so {subject} was not read: try again in {seconds} s, or set an "
     "access token (HF_TOKEN) for a higher limit."},
    {"hub.rate-limited-until", "",
     "The Hub takes no more requests for now, so {subject} was not read: try again in {seconds} s."},
    {"hub.refused", "",
     "The request for {subject} was refused (status {status}: {reason}): try again later, or check the "
     "proxy."},
    {"hub.refused-redirect", "",
     "{host} wanted to send the request for {subject} on to {reason}, which is not followed: check "
     "HF_ENDPOINT "
     "and the proxy."},
    {"hub.revision-missing", "",
     "{subject} has no revision “{revision}”: choose a branch, tag or commit of it."},
    {"hub.server-error", "",
     "The Hub failed to answer the request for {subject} (status {status}): try again in a few minutes."},
    {"hub.size-differs", "",
     "{subject} is listed with {listed} but is {found} large: try again; if it stays, the upload is "
     "incomplete."},
    {"hub.storage-refused", "",
     "The storage behind the Hub refused to hand out {subject}, twice: check the clock of this machine and "
     "the "
     "proxy, then try again."},
    {"hub.tls", "",
     "The certificate of {host} was not accepted, so {subject} was not read ({reason}): if a proxy of your "
     "network signs traffic, name its CA in REQUESTS_CA_BUNDLE."},
    {"hub.token-scope", "",
     "The access token does not allow reading {subject}: give it read access to this repository on "
     "huggingface.co (Settings, Access Tokens)."},
    {"hub.too-large", "",
     "{host} sends more than the {limit} that the answer about {subject} can have: it was broken off."},
    {"hub.too-many-files", "",
     "The listing of {subject} is longer than is read here (200,000 entries, 200 pages or 64 MiB of text): "
     "open a clone of it as a folder."},
    {"hub.too-slow", "",
     "{host} stopped sending, or sent too slowly, while {subject} was read: check the network connection and "
     "try again."},
    {"hub.unreachable", "",
     "{host} cannot be reached, so {subject} was not read: check the network connection, HF_ENDPOINT and the "
     "proxy."},
    {"ollama.bad-digest", "",
     "{subject} names a layer “{digest}”, which is no SHA-256 digest: the manifest is damaged or forged, "
     "nothing "
     "was read; pull the model again."},
    {"ollama.bad-layer-name", "",
     "{subject} holds a layer with the name “{name}”, which stands twice or is no plain name: the manifest "
     "is "
     "damaged or forged; pull the model again."},
    {"ollama.bad-name", "",
     "“{subject}” is no name of a model in Ollama: give ollama:name:tag, such as ollama:qwen3:30b."},
    {"ollama.bad-registry", "",
     "WEIR_OLLAMA_REGISTRY is “{subject}”, which is no address of a registry: give one such as "
     "https://registry.ollama.ai."},
    {"ollama.bad-size", "",
     "{subject} gives no size, or none that can be, for the layer {digest}: the manifest is damaged; pull "
     "the "
     "model again."},
    {"ollama.blob-missing", "",
     "{subject} is missing, a part of “{model}” in Ollama’s store: pull the model again."},
    {"ollama.blob-size", "",
     "{subject} has {found} instead of the {expected} that its manifest gives: it is cut off or damaged; "
     "pull the "
     "model again."},
    {"ollama.blob-unfinished", "",
     "{subject} is still being downloaded, or was broken off, so “{model}” cannot be read: let the pull end, "
     "or "
     "start it again."},
    {"ollama.empty-store", "", "{subject} is a store of Ollama without a model in it: pull one."},
    {"ollama.manifest-duplicate-key", "",
     "{subject} holds the key “{key}” twice: the manifest is damaged or forged; pull the model again."},
    {"ollama.not-a-manifest", "",
     "{subject} is no manifest of a model (version 2, with a list of layers): pull the model again."},
    {"ollama.not-here", "",
     "“{subject}” is in no store of Ollama on this disk, and no registry was asked: pull it, or go online."},
    {"ollama.no-weights", "",
     "{subject} holds no weights of a model (layers: {layers}): name the model that it was made from."},
    {"ollama.registry-denied", "",
     "{host} does not hand out {subject} without signing in (status {status}): pull it with Ollama, then it "
     "is "
     "read from the disk."},
    {"ollama.registry-failed", "",
     "{host} failed to answer the request for {subject} (status {status}): try again in a few minutes."},
    {"ollama.registry-busy", "",
     "{host} takes no more requests for now, so {subject} was not read: try again in a few minutes."},
    {"ollama.registry-busy-until", "",
     "{host} takes no more requests for now, so {subject} was not read: try again in {seconds} s."},
    {"ollama.registry-missing", "",
     "{host} has no {subject}: check the name and the tag on ollama.com, or pull it with Ollama first."},
    {"ollama.registry-unreachable", "",
     "{host} cannot be reached, so {subject} was not read: check the network connection and the proxy, or "
     "pull it "
     "with Ollama where there is one."},
    {"ollama.remote", "",
     "“{subject}” runs at {host}, not on this machine: none of its weights can be read or counted here."},
    {"ollama.several", "", "{subject} holds {count} models, name one of them: {names}."},
    {"ollama.too-many-layers", "",
     "{subject} lists {count} layers, more than the {limit} that are read: the manifest is forged."},
    {"cache.empty", "", "{subject} holds no downloaded snapshot of a model: download one first."},
    {"cache.several", "", "{subject} holds {count} models, name the folder of one of them: {names}."},
    {"cache.file-missing", "",
     "{subject} was not downloaded, or its link leads out of the folder of its repository: download it "
     "again."},
    {"index.bad-json", "",
     "{subject} is no valid safetensors index: it is damaged or cut off; download it again."},
    {"index.bad-path", "",
     "{subject} points to “{path}”, outside its own folder: the index is forged or damaged, nothing was "
     "read."},
    {"index.duplicate", "", "{subject} lists the tensor “{tensor}” twice: the index is damaged or forged."},
    {"index.too-many-files", "",
     "{subject} names more than {limit} files, more than any model has: the index is damaged or forged."},
    {"index.no-map", "", "{subject} has no weight_map, so it is no safetensors index: download it again."},
    {"safetensors.too-short", "",
     "{subject} is shorter than a safetensors header: it is cut off; download it again."},
    {"safetensors.header-length", "",
     "{subject} claims a header of {claimed}, but has only {file}: it is damaged, cut off or forged."},
    {"safetensors.header-too-large", "",
     "{subject} claims a header of {claimed}, more than the {limit} that the format allows: it is damaged or "
     "forged."},
    {"safetensors.bad-json", "",
     "The header of {subject} is not valid JSON: the file is damaged or no safetensors file; download it "
     "again."},
    {"safetensors.bad-metadata", "",
     "The __metadata__ in the header of {subject} holds more than text, which the format forbids: the file "
     "is damaged or forged."},
    {"safetensors.bad-name", "",
     "The header of {subject} holds a tensor with an empty or endless name: the file is damaged or forged."},
    {"safetensors.bad-entry", "",
     "The header of {subject} describes the tensor “{tensor}” wrongly (dtype, shape or offsets): the file is "
     "damaged or forged."},
    {"safetensors.beyond-file", "",
     "{subject} ends before the tensor “{tensor}” does: the download is incomplete, or the file is forged; "
     "download it again."},
    {"safetensors.overflow", "",
     "The shape of the tensor “{tensor}” in {subject} is larger than any file: the header is forged or "
     "damaged."},
    {"safetensors.size-mismatch", "",
     "The tensor “{tensor}” in {subject} does not have the size of its dtype and shape: the file is damaged "
     "or forged."},
    {"safetensors.overlap", "",
     "The tensor “{tensor}” in {subject} overlaps another one: the file is damaged or forged."},
    {"safetensors.hole", "",
     "The data of {subject} has a gap before the tensor “{tensor}”: the file is damaged or forged."},
    {"safetensors.trailing", "",
     "{subject} describes {expected} of data but holds {found}: it is damaged or forged; download it again."},
    {"safetensors.duplicate", "",
     "The header of {subject} lists the tensor “{tensor}” twice: the file is damaged or forged."},
    {"tensors.too-many-names", "",
     "{subject} holds more different tensor names than any model (200,000 patterns): it was not read "
     "further."},
    {"gguf.magic", "",
     "{subject} does not begin like a GGUF file: it is damaged or something else; download it again."},
    {"gguf.version", "",
     "{subject} is GGUF version {version}; versions 2 and 3 are read: convert it again with a current "
     "llama.cpp."},
    {"gguf.counts", "",
     "{subject} claims {tensors} tensors and {keys} keys, more than its size can hold or any model has: it "
     "is "
     "cut off, damaged or forged."},
    {"gguf.header-too-large", "",
     "The header of {subject} is larger than {limit}, more than that of any model: it was not read; the file "
     "is damaged or forged."},
    {"gguf.truncated-header", "",
     "{subject} ends within its header: the download is incomplete; download it again."},
    {"gguf.truncated", "",
     "{subject} ends before the tensor “{what}” does: the download is incomplete; download it again."},
    {"gguf.bad-value", "",
     "The key “{what}” in {subject} is longer than the file, or has an impossible value: the download is "
     "incomplete, or the file is damaged or forged; download it again."},
    {"gguf.bad-key", "",
     "The key “{key}” in {subject} is missing or has a value that no model can have: the file is damaged or "
     "forged."},
    {"gguf.bad-tensor", "",
     "A tensor (“{what}”) in {subject} has no name or more than four dimensions: the file is damaged or "
     "forged."},
    {"gguf.alignment", "",
     "{subject} states an alignment that is no power of two: the file is damaged or forged."},
    {"gguf.duplicate-key", "", "{subject} holds the key “{what}” twice: the file is damaged or forged."},
    {"gguf.duplicate-tensor", "",
     "{subject} holds the tensor “{what}” twice: the file is damaged or forged."},
    {"gguf.overflow", "",
     "The tensor “{what}” in {subject} is larger than any file: the header is damaged or forged."},
    {"gguf.block", "",
     "The rows of the tensor “{what}” in {subject} are no whole number of blocks of its type: the file is "
     "damaged or forged."},
    {"gguf.overlap", "",
     "The tensor “{what}” in {subject} overlaps the one before it: the file is damaged or forged."},
    {"gguf.hole", "",
     "The data of {subject} has a gap before the tensor “{what}”: the file is damaged or forged."},
    {"gguf.no-architecture", "",
     "{subject} does not say its architecture: it is no model file, or not the first part of a split one."},
    {"gguf.no-tensors", "", "{subject} holds no tensors (a vocabulary only): choose the model file."},
    {"gguf.adapter", "",
     "{subject} is an adapter (LoRA), not a whole model: assess its base, {base}, to which it adds "
     "{weights}."},
    {"gguf.not-language-model", "",
     "{subject} holds “{architecture}” ({kind}), which is no decoder language model: choose the model file."},
    {"gguf.missing-part", "",
     "{subject} is missing, one of the {total} parts of a split model: finish the download."},
    {"gguf.split-count", "",
     "{subject} claims to be one of {count} parts, which no model has: the name is wrong."},
    {"gguf.split-mismatch", "",
     "{subject} says it is part {number} of {count}, but stands among {files} files: parts are mixed up or "
     "renamed."},
    {"gguf.split-tensors", "",
     "The parts of {subject} hold {found} tensors instead of {expected}: a part is from another model or "
     "incomplete."},
    {"open.empty", "", "No checkpoint was named: give a folder, a file or a catalog id."},
    {"open.not-in-catalog", "", "“{subject}” is not in the catalog: “weir catalog” lists what is."},
    {"open.unknown", "",
     "“{subject}” is neither a file or folder here nor in the catalog: see “weir catalog” for the ids, or "
     "give a path that begins with ./ or /."},
    {"quant.unknown-scheme", "", "“{subject}” is no quantization that is known here: use one of {known}."},
    {"quant.unknown-component", "",
     "“{subject}” is no component of a model: use one of {known}, as in lm_head=int8."},
    {"quant.empty-part", "",
     "“{subject}” in --quant is no scheme and no component=scheme: write Q4_K_M, or "
     "lm_head=int8,shared_expert=fp8."},
    {"quant.repeated", "",
     "“{subject}” says again what --quant said before: name each component and one scheme once."},
    {"quant.too-long", "",
     "--quant takes at most {limit} characters, and “{subject}” goes on: name fewer parts."},
    {"quant.declared-unknown", "",
     "The config declares the quantization “{subject}”, whose layout is not known here: download the "
     "checkpoint, or "
     "its headers."},
    {"quant.too-many-patterns", "",
     "The config names more exceptions from its {subject} quantization than any checkpoint has: it is "
     "damaged or "
     "forged."},
    {"quant.no-shapes", "",
     "{subject} cannot be imagined at another quantization, because the shape of its packed tensor "
     "“{tensor}” "
     "cannot be told: take the unquantized checkpoint."},
    {"quant.component-absent", "",
     "There is no {subject} in this checkpoint at this quantization: leave it out of --quant."},
    {"quant.component-scheme", "",
     "{component} cannot be “{subject}” in a checkpoint of format {format}: use int8, int4 or bf16, or "
     "another scheme "
     "of that format."},
    {"quant.draft-unknown", "",
     "It is not known how llama.cpp stores the draft head of {subject}: leave mtp out of --quant."},
    {"quant.nothing-to-quantize", "",
     "{subject} has no matrix that “{scheme}” could store: leave it out of --quant."},
    {"requantize.mix", "", "“{subject}” cannot be derived from another quantization: use Q4_K_M."},
    {"requantize.architecture", "",
     "{subject} cannot be derived at another quantization: only unquantized checkpoints without latent "
     "attention can."},
    {"catalog.bad-field", "",
     "The catalog file {subject} has a wrong or missing “{field}”: reinstall weir, or make the catalog "
     "again."},
    {"usage", "", "{text}"},
    {"machine.unknown", "", "No machine is called “{subject}”: see “weir machines” for the ids."},
    {"engine.unknown", "", "No engine is called “{subject}”: see “weir engines” for the ids, or use auto."},
    {"dtype.unknown", "", "“{subject}” is no KV cache dtype of {engine}: it knows {known}."},
    {"read.failed", "", "{subject} could not be read: {reason}."},
    {"disk.failed", "Disk not looked through", "This disk could not be looked through: {reason}."},
});

std::function<std::string(std::string_view)> &translator()
{
    static std::function<std::string(std::string_view)> installed;
    return installed;
}

std::string translated(std::string_view english)
{
    const auto &installed = translator();
    return installed ? installed(english) : std::string(english);
}

template <std::size_t N>
const Words *find(const std::array<Words, N> &table, std::string_view id)
{
    const auto found =
        std::find_if(table.begin(), table.end(), [id](const Words &words) { return words.id == id; });
    return found == table.end() ? nullptr : &*found;
}

/// What something is that is no decoder language model, by the ids that `models/` uses.
constexpr auto kinds = std::to_array<std::pair<std::string_view, std::string_view>>(
    {{"adapter", "adapter"},
     {"audio-text", "model of sounds and texts"},
     {"classifier", "classifier, reranker or reward model"},
     {"diffusion", "diffusion model"},
     {"embedding", "embedding model"},
     {"encoder", "text encoder"},
     {"encoder-decoder", "encoder-decoder model"},
     {"image", "image model"},
     {"image-text", "model of images and texts"},
     {"imatrix", "importance matrix"},
     {"projector", "projector for images or sound"},
     {"speech", "speech model"}});

/// Facts about it, in the order in which they are listed.
constexpr auto factLabels =
    std::to_array<std::pair<std::string_view, std::string_view>>({{"kind", "What it is"},
                                                                  {"architecture", "Architecture"},
                                                                  {"base", "Base model"},
                                                                  {"rank", "Rank"},
                                                                  {"targets", "Target modules"},
                                                                  {"parameters", "Parameters"},
                                                                  {"tensors", "Tensors"},
                                                                  {"weights", "Weights"},
                                                                  {"files", "Files"},
                                                                  {"bytes", "All files"}});

std::string kindText(std::string_view id)
{
    const auto found =
        std::find_if(kinds.begin(), kinds.end(), [id](const auto &kind) { return kind.first == id; });
    return found == kinds.end() ? std::string(id) : translated(found->second);
}

std::string valueText(const MessageValue &value, ByteUnit unit)
{
    if (const auto *text = std::get_if<std::string>(&value))
        return printable(*text, 600);
    if (const auto *number = std::get_if<std::uint64_t>(&value))
        return formatCount(*number);
    if (const auto *real = std::get_if<double>(&value))
        return fmt::format("{:.4g}", *real);
    return formatBytes(std::get<Bytes>(value).value, unit);
}

std::string fill(std::string_view english, const MessageArguments &arguments, std::string_view subject,
                 ByteUnit unit)
{
    const std::string text = translated(english);
    std::string out;
    for (std::size_t i = 0; i < text.size();) {
        const std::size_t open = text.find('{', i);
        const std::size_t close = open == std::string::npos ? open : text.find('}', open);
        if (close == std::string::npos) {
            out.append(text, i, std::string::npos);
            break;
        }
        out.append(text, i, open - i);
        const std::string name = text.substr(open + 1, close - open - 1);
        const auto argument = std::find_if(arguments.begin(), arguments.end(),
                                           [&name](const auto &each) { return each.first == name; });
        if (name == "subject")
            out += printable(subject, 600);
        else if (name == "kind" && argument != arguments.end()
                 && std::holds_alternative<std::string>(argument->second))
            out += kindText(std::get<std::string>(argument->second));
        else
            out += argument == arguments.end() ? std::string("?") : valueText(argument->second, unit);
        i = close + 1;
    }
    return out;
}

/// For an id that the catalogue does not hold: the id and its arguments, so that nothing is lost.
std::string fallback(std::string_view id, const MessageArguments &arguments, std::string_view subject,
                     ByteUnit unit)
{
    std::string out(id);
    if (!subject.empty())
        out += ": " + printable(subject, 600);
    for (const auto &[name, value] : arguments)
        out += fmt::format("; {}: {}", name, valueText(value, unit));
    return out;
}

/// Errors in shipped or user data share one form whatever the field: file, entry and field are named.
std::string dataError(const Error &error, ByteUnit unit)
{
    std::string where;
    for (const auto &[name, value] : error.arguments)
        where += fmt::format("{}{} {}", where.empty() ? "" : ", ", name, valueText(value, unit));
    const std::string_view kind = std::string_view(error.id).substr(error.id.rfind('.') + 1);
    std::string words(kind);
    std::replace(words.begin(), words.end(), '-', ' ');
    return fmt::format("{} is wrong ({}{}{}): correct the file, or reinstall weir.",
                       printable(error.subject, 600), words, where.empty() ? "" : "; ", where);
}

} // namespace

void setWordTranslator(std::function<std::string(std::string_view)> installed)
{
    translator() = std::move(installed);
}

bool hasWordsFor(std::string_view id)
{
    return find(messages, id) != nullptr || find(errors, id) != nullptr || id.starts_with("data.");
}

std::string wordTitle(const Message &message, ByteUnit unit)
{
    const Words *words = find(messages, message.id);
    return words == nullptr ? message.id : fill(words->title, message.arguments, {}, unit);
}

std::string wordDetail(const Message &message, ByteUnit unit)
{
    if (const Words *words = find(messages, message.id))
        return fill(words->detail, message.arguments, {}, unit);
    const Words *words = find(errors, message.id); // a note that says why something was not read
    if (words == nullptr)
        return fallback(message.id, message.arguments, {}, unit);
    const auto subject = std::find_if(message.arguments.begin(), message.arguments.end(),
                                      [](const auto &each) { return each.first == "subject"; });
    const auto *about =
        subject == message.arguments.end() ? nullptr : std::get_if<std::string>(&subject->second);
    return fill(words->detail, message.arguments, about == nullptr ? std::string_view() : *about, unit);
}

std::string wordError(const Error &error, ByteUnit unit)
{
    if (const Words *words = find(errors, error.id))
        return fill(words->detail, error.arguments, error.subject, unit);
    if (std::string_view(error.id).starts_with("data."))
        return dataError(error, unit);
    return fallback(error.id, error.arguments, error.subject, unit);
}

std::vector<std::pair<std::string, std::string>> wordFacts(const Error &error, ByteUnit unit)
{
    std::vector<std::pair<std::string, std::string>> facts;
    if (error.kind != ErrorKind::NotLanguageModel)
        return facts;
    for (const auto &[name, label] : factLabels) {
        for (const auto &[argument, value] : error.arguments) {
            if (argument != name)
                continue;
            std::string text = valueText(value, unit);
            if (name == "kind")
                text = kindText(text);
            else if (const auto *count = std::get_if<std::uint64_t>(&value);
                     name == "parameters" && count != nullptr)
                text = formatParameters(*count);
            facts.emplace_back(translated(label), std::move(text));
            break;
        }
    }
    return facts;
}

std::string componentLabel(Component component)
{
    switch (component) {
    case Component::RoutedExperts: return translated("Routed experts");
    case Component::SharedExpert: return translated("Shared expert");
    case Component::DenseMlp: return translated("Dense MLP");
    case Component::Attention: return translated("Attention");
    case Component::LinearAttention: return translated("Linear attention");
    case Component::Router: return translated("Router");
    case Component::EmbedTokens: return translated("Token embedding");
    case Component::LookupTables: return translated("Lookup tables");
    case Component::LmHead: return translated("lm_head");
    case Component::Mtp: return translated("MTP head");
    case Component::Vision: return translated("Vision tower");
    case Component::Audio: return translated("Audio tower");
    case Component::Norm: return translated("Norms");
    case Component::Other: return translated("Other");
    }
    return {};
}

} // namespace weir
