#ifndef LOADER_OFFLINE_H
#define LOADER_OFFLINE_H

#include "options.h"
#include "stream.h"

extern void offline_copy(const Options *options, const Stream *stream);
extern void offline_digest(const Options *options, const Stream *stream);

#endif							/* LOADER_OFFLINE_H */
