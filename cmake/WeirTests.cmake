# SPDX-License-Identifier: GPL-3.0-or-later

# weir_add_test(NAME [SOURCES...] [LIBS...] [LABELS...] [TIMEOUT seconds] [GUI] [XVFB])
# A Qt Test executable and the CTest entry that runs it headless, in the C.UTF-8 locale, on the data of
# this source tree and with empty user settings. SOURCES defaults to NAME.cpp.
#   GUI   needs Qt Widgets; left out when the window is not built
#   XVFB  needs a real X server: runs under xvfb-run, and is skipped, saying so, where there is none
# Benchmarks carry the label `bench`: ./test leaves them out, `ctest --preset bench` runs them alone.
function(weir_add_test name)
    cmake_parse_arguments(ARG "GUI;XVFB" "TIMEOUT" "SOURCES;LIBS;LABELS" ${ARGN})
    if(ARG_UNPARSED_ARGUMENTS)
        message(FATAL_ERROR "weir_add_test(${name}): unknown arguments ${ARG_UNPARSED_ARGUMENTS}")
    endif()
    if(ARG_GUI AND NOT WEIR_GUI)
        return()
    endif()
    if(NOT ARG_SOURCES)
        set(ARG_SOURCES ${name}.cpp)
    endif()
    if(NOT ARG_TIMEOUT)
        set(ARG_TIMEOUT 120)
    endif()

    add_executable(${name} ${ARG_SOURCES})
    set_target_properties(${name} PROPERTIES AUTOMOC ON)
    target_link_libraries(${name} PRIVATE weir_options weir_qt_options ${ARG_LIBS} Qt6::Test)
    if(ARG_GUI)
        target_link_libraries(${name} PRIVATE Qt6::Widgets)
    endif()
    weir_register_test(${name} COMMAND ${name} LABELS ${ARG_LABELS} TIMEOUT ${ARG_TIMEOUT}
        XVFB ${ARG_XVFB})
endfunction()

# weir_register_test(NAME COMMAND command... [LABELS...] [TIMEOUT seconds] [XVFB bool])
# The CTest half of weir_add_test, for scripts and for the program itself.
function(weir_register_test name)
    cmake_parse_arguments(ARG "" "TIMEOUT;XVFB" "COMMAND;LABELS" ${ARGN})
    if(NOT ARG_TIMEOUT)
        set(ARG_TIMEOUT 120)
    endif()
    set(platform offscreen)
    if(ARG_XVFB)
        set(platform xcb)
        find_program(XVFB_RUN_PROGRAM xvfb-run)
        if(XVFB_RUN_PROGRAM)
            # CTest replaces a target by its file only where it comes first.
            list(POP_FRONT ARG_COMMAND program)
            if(TARGET ${program})
                set(program $<TARGET_FILE:${program}>)
            endif()
            set(ARG_COMMAND ${XVFB_RUN_PROGRAM} -a -s "-screen 0 1920x1080x24" ${program} ${ARG_COMMAND})
        else()
            set(ARG_COMMAND ${CMAKE_COMMAND} -E echo "SKIPPED: no xvfb-run here (package xvfb)")
        endif()
    endif()

    add_test(NAME ${name} COMMAND ${ARG_COMMAND})
    set(home ${PROJECT_BINARY_DIR}/tests/home)
    set(environment
        QT_QPA_PLATFORM=${platform}
        QT_FORCE_STDERR_LOGGING=1
        LC_ALL=C.UTF-8
        TZ=UTC
        WEIR_DATA_DIR=${PROJECT_SOURCE_DIR}/data
        XDG_CONFIG_HOME=${home}/${name}/config
        XDG_DATA_HOME=${home}/${name}/data
        XDG_CACHE_HOME=${home}/cache
        UBSAN_OPTIONS=print_stacktrace=1
        LSAN_OPTIONS=suppressions=${PROJECT_SOURCE_DIR}/tests/support/lsan.supp:print_suppressions=0)
    set_tests_properties(${name} PROPERTIES
        TIMEOUT ${ARG_TIMEOUT}
        LABELS "${ARG_LABELS}"
        SKIP_REGULAR_EXPRESSION "^SKIPPED: "
        ENVIRONMENT "${environment}")
    if("bench" IN_LIST ARG_LABELS)
        set_tests_properties(${name} PROPERTIES RUN_SERIAL ON)
    endif()
endfunction()
