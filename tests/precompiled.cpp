// tests/precompiled.cpp - the target precompiled_tests, whose precompiled header all tests use.
int main() {}
