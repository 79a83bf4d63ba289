// Copyright 2026 The ros_ik developers
// SPDX-License-Identifier: Apache-2.0
//
// A slow DataReader::set_listener of Fast DDS, to be loaded before it. rmw_fastrtps counts the data
// of a reader and then calls set_listener; data that arrive meanwhile cause no event.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <string.h>
#include <unistd.h>

#define NAME "_ZN8eprosima7fastdds3dds10DataReader12set_listenerEPNS1_18DataReaderListenerE" \
  "RKNS1_10StatusMaskE"
// [s]
#define DELAY 1

int set_listener(void * reader, void * listener, const void * mask) __asm__(NAME);

static int find(struct dl_phdr_info * library, size_t size, void * path)
{
  (void)size;
  // Before ROS 2 Kilted it has the second name.
  if (!strstr(library->dlpi_name, "libfastdds") && !strstr(library->dlpi_name, "libfastrtps")) {
    return 0;
  }
  *(const char **)path = library->dlpi_name;
  return 1;
}

int set_listener(void * reader, void * listener, const void * mask)
{
  const char * path = NULL;
  dl_iterate_phdr(find, &path);
  void * library = dlopen(path, RTLD_NOLOAD | RTLD_LAZY);
  int (* set)(void *, void *, const void *) = dlsym(library, NAME);
  sleep(DELAY);
  return set(reader, listener, mask);
}
