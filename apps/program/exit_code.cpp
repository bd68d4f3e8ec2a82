// apps/program/exit_code.cpp - see exit_code.hpp.
#include "program/exit_code.hpp"
#include "program/command_line.hpp"
#include "program/printable.hpp"
#include <headrace/core/error.hpp>

#include <cstdio>
#include <new>

namespace program {

int complain(const std::string& program, const std::string& what, int exit_code) {
    std::fprintf(stderr, "%s: %s\n", program.c_str(), printable(what).c_str());
    return exit_code;
}

int exit_code_of(const std::string& program, const std::function<void()>& work) {
    try {
        work();
        return 0;
    } catch (const Answered&) {
        return 0;
    } catch (const headrace::Error& error) {
        return complain(program, error.what(), error.is_users_mistake() ? 2 : 1);
    } catch (const std::bad_alloc&) {
        return complain(program, "the host ran out of memory; ask for less", 1);
    } catch (const std::exception& error) {
        return complain(program, error.what(), 1);
    }
}

} // namespace program
