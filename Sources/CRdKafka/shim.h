// librdkafka as the Kafka module sees it.
#ifndef REMINT_CRDKAFKA_SHIM_H
#define REMINT_CRDKAFKA_SHIM_H

#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>

#endif
