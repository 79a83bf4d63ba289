# The generators of messages for Python, in the place of those for every language: without C++, a
# package of messages takes half the time to build. CMake finds it by rosidl_default_generators_DIR.
find_package(rosidl_core_generators REQUIRED)
list(FILTER AMENT_EXTENSIONS_rosidl_generate_idl_interfaces EXCLUDE REGEX "cpp:")

# Read the headers of C++, most of the work of a build, once for all messages.
cmake_language(DEFER CALL set_target_properties
  ${PROJECT_NAME}__rosidl_typesupport_c ${PROJECT_NAME}__rosidl_typesupport_fastrtps_c
  PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 0)
