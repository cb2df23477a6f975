// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/checkpoint/safetensors.h"
#include "tests/fuzz/fuzztarget.h"

using namespace weir;

WEIR_FUZZ_TARGET(index)
{
    const Result<SafetensorsIndex> index = readSafetensorsIndex(input, "index");
    if (!index)
        return;
    fuzz::require(index->shares.size() == index->files.size(), "every file has a share");
    for (const std::string &file : index->files)
        fuzz::require(isPlainRelativePath(file), "files stay in the folder");
    std::uint64_t tensors = 0;
    for (const SafetensorsIndex::Entry &entry : index->entries)
        fuzz::require(index->fileOf(index->nameOf(entry)) == entry.file, "every tensor is found");
    for (const SafetensorsIndex::Share &share : index->shares)
        tensors += share.tensors;
    fuzz::require(tensors == index->entries.size(), "shares add up");
}
