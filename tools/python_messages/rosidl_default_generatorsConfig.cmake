# The generators of messages for Python, in the place of those for every language: without C++, a
# package of messages takes half the time to build. CMake finds it by rosidl_default_generators_DIR.
find_package(rosidl_core_generators REQUIRED)
list(FILTER AMENT_EXTENSIONS_rosidl_generate_idl_interfaces EXCLUDE REGEX "cpp:")
