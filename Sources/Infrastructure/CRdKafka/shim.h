// librdkafka as the Kafka module sees it. Variadic functions are not imported, so the one we need is wrapped here.
#ifndef REMINT_CRDKAFKA_SHIM_H
#define REMINT_CRDKAFKA_SHIM_H

#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>

/// Hands one record to the producer, which copies key and value. The partitioner chooses the partition: 2.0.2 frees
/// headers twice when a forced partition does not exist. `handle` spares looking `topic` up by its name; it may be null. On
/// success the producer owns `headers`; on failure the caller still does.
static inline rd_kafka_resp_err_t remint_produce(
    rd_kafka_t *client, rd_kafka_topic_t *handle, const char *topic, const void *key, size_t key_size,
    const void *value, size_t value_size, rd_kafka_headers_t *headers, void *opaque) {
    if (handle)
        return rd_kafka_producev(
            client, RD_KAFKA_V_RKT(handle), RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_KEY(key, key_size),
            RD_KAFKA_V_VALUE((void *)value, value_size), RD_KAFKA_V_HEADERS(headers), RD_KAFKA_V_OPAQUE(opaque),
            RD_KAFKA_V_END);
    return rd_kafka_producev(
        client, RD_KAFKA_V_TOPIC(topic), RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_KEY(key, key_size),
        RD_KAFKA_V_VALUE((void *)value, value_size), RD_KAFKA_V_HEADERS(headers), RD_KAFKA_V_OPAQUE(opaque),
        RD_KAFKA_V_END);
}

#endif
