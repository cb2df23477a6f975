// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/base/sha256.h"

#include <openssl/evp.h>

#include <array>

namespace weir {

std::string sha256Hex(std::string_view text)
{
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    unsigned length = 0;
    if (EVP_Digest(text.data(), text.size(), digest.data(), &length, EVP_sha256(), nullptr) != 1)
        return {};
    static constexpr std::string_view digits = "0123456789abcdef";
    std::string hex;
    for (unsigned i = 0; i < length; ++i) {
        hex += digits[digest.at(i) >> 4U];
        hex += digits[digest.at(i) & 15U];
    }
    return hex;
}

} // namespace weir
