# SPDX-License-Identifier: GPL-3.0-or-later
# Flags for every target of this project, in one place: link weir_options PRIVATE.
add_library(weir_options INTERFACE)
target_include_directories(weir_options INTERFACE ${PROJECT_SOURCE_DIR})
target_compile_options(weir_options INTERFACE
    -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wold-style-cast
    -Wnon-virtual-dtor -Woverloaded-virtual
    # GCC 12 sees overlaps in std::string + that are not there when it optimizes (GCC bug 105651).
    $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>
    # stable_sort of libstdc++ 12 uses what it deprecates itself, and clang says so; GCC still warns of ours.
    $<$<CXX_COMPILER_ID:Clang>:-Wno-deprecated-declarations>
    $<$<BOOL:${WEIR_WERROR}>:-Werror>)
target_compile_definitions(weir_options INTERFACE
    $<$<OR:$<CONFIG:Debug>,$<BOOL:${WEIR_FUZZ}>>:_GLIBCXX_ASSERTIONS>)

if(WEIR_SANITIZE)
    target_compile_options(weir_options INTERFACE
        -fsanitize=${WEIR_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
    target_link_options(weir_options INTERFACE -fsanitize=${WEIR_SANITIZE})
endif()

# For targets that use Qt: no implicit conversions from char pointers, no deprecated API.
add_library(weir_qt_options INTERFACE)
target_compile_definitions(weir_qt_options INTERFACE
    QT_NO_CAST_FROM_ASCII QT_NO_CAST_TO_ASCII QT_NO_CAST_FROM_BYTEARRAY QT_NO_URL_CAST_FROM_STRING
    QT_NO_NARROWING_CONVERSIONS_IN_CONNECT QT_USE_QSTRINGBUILDER QT_STRICT_ITERATORS
    QT_DISABLE_DEPRECATED_BEFORE=0x060400)

# weir_add_library(NAME SOURCES... [PUBLIC libs...] [PRIVATE libs...])
function(weir_add_library name)
    cmake_parse_arguments(ARG "" "" "SOURCES;PUBLIC;PRIVATE" ${ARGN})
    add_library(${name} STATIC ${ARG_SOURCES})
    target_link_libraries(${name} PUBLIC ${ARG_PUBLIC} PRIVATE weir_options ${ARG_PRIVATE})
endfunction()
