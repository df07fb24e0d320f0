// What librdkafka alone takes for the worker's traffic: consumes events, produces for each a record of the size and shape of
// a token's, and commits both in one transaction after the other. Nothing is read, decided or signed.
//
//     librdkafka-relay --brokers B --group G --input T --output T --value-bytes N --transaction-events N

#include <getopt.h>
#include <librdkafka/rdkafka.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_PARTITIONS = 64, KEY_BYTES = 64, LIMIT_MS = 10000, TAKE_MS = 10 };

// What a broker takes to write a transaction's markers, with some to spare: the next transaction's first request is sent back
// for 20 ms where it comes before. Remint leaves it as long.
static const useconds_t REST_MICROSECONDS = 8000;

struct options {
    const char *brokers, *group, *input, *output;
    size_t value_bytes;
    int transaction_events;
};

struct event {
    char key[KEY_BYTES];
    size_t key_bytes;
};

// The events of a transaction, and behind each partition's last one the next to read.
struct transaction {
    int count;
    int64_t next[MAX_PARTITIONS];
    struct event events[];
};

// The transaction that waits to be published, handed from the one thread to the other.
static struct transaction *waiting;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static volatile sig_atomic_t stopping;
static volatile long failures;

static void stop(int number) {
    (void)number;
    stopping = 1;
}

static void fail(const char *what, const char *why) {
    fprintf(stderr, "librdkafka-relay: %s: %s\n", what, why);
    exit(1);
}

static void require(rd_kafka_error_t *error, const char *what) {
    if (error) fail(what, rd_kafka_error_string(error));
}

static void delivered(rd_kafka_t *client, const rd_kafka_message_t *message, void *context) {
    (void)client, (void)context;
    if (message->err) failures++;
}

static rd_kafka_t *make_client(rd_kafka_type_t type, const struct options *options, const char *const *properties) {
    char why[512];
    rd_kafka_conf_t *configuration = rd_kafka_conf_new();
    const char *const common[] = {"bootstrap.servers", options->brokers, "socket.nagle.disable", "true", NULL};
    const char *const *lists[] = {common, properties};
    for (int list = 0; list < 2; list++)
        for (const char *const *pair = lists[list]; *pair; pair += 2)
            if (rd_kafka_conf_set(configuration, pair[0], pair[1], why, sizeof why)) fail(pair[0], why);
    if (type == RD_KAFKA_PRODUCER) rd_kafka_conf_set_dr_msg_cb(configuration, delivered);
    rd_kafka_t *client = rd_kafka_new(type, configuration, why, sizeof why);
    if (!client) fail("a client", why);
    return client;
}

static rd_kafka_t *make_consumer(const struct options *options) {
    const char *const properties[] = {
        "group.id", options->group, "auto.offset.reset", "earliest", "isolation.level", "read_committed",
        "enable.auto.commit", "false", "enable.auto.offset.store", "false", "partition.assignment.strategy", "range",
        // As much as there is: a full queue is looked after once a second only.
        "queued.min.messages", "10000000", "queued.max.messages.kbytes", "1000000", NULL};
    rd_kafka_t *consumer = make_client(RD_KAFKA_CONSUMER, options, properties);
    rd_kafka_poll_set_consumer(consumer);
    rd_kafka_topic_partition_list_t *topics = rd_kafka_topic_partition_list_new(1);
    rd_kafka_topic_partition_list_add(topics, options->input, RD_KAFKA_PARTITION_UA);
    rd_kafka_resp_err_t error = rd_kafka_subscribe(consumer, topics);
    if (error) fail("subscribing", rd_kafka_err2str(error));
    rd_kafka_topic_partition_list_destroy(topics);
    return consumer;
}

static rd_kafka_t *make_producer(const struct options *options) {
    const char *const properties[] = {
        "transactional.id", options->group, "transaction.timeout.ms", "15000", "linger.ms", "1", "partitioner",
        "murmur2_random", NULL};
    rd_kafka_t *producer = make_client(RD_KAFKA_PRODUCER, options, properties);
    require(rd_kafka_init_transactions(producer, LIMIT_MS), "registering the transactional id");
    return producer;
}

// MARK: Taking

struct taker {
    rd_kafka_t *consumer;
    const struct options *options;
};

static struct transaction *make_transaction(const struct options *options) {
    size_t size = sizeof(struct transaction) + (size_t)options->transaction_events * sizeof(struct event);
    struct transaction *transaction = malloc(size);
    if (!transaction) fail("a transaction", "no memory");
    transaction->count = 0;
    for (int number = 0; number < MAX_PARTITIONS; number++) transaction->next[number] = -1;
    return transaction;
}

static void note(struct transaction *transaction, const rd_kafka_message_t *message) {
    if (message->partition >= MAX_PARTITIONS || message->key_len > KEY_BYTES)
        fail("an event", "it has a partition above 63, or a key of more than 64 bytes");
    rd_kafka_headers_t *headers;
    const void *app;
    size_t app_bytes;
    // A worker reads the headers, which parses them.
    if (!rd_kafka_message_headers(message, &headers)) rd_kafka_header_get_last(headers, "remint-app", &app, &app_bytes);
    struct event *event = &transaction->events[transaction->count++];
    memcpy(event->key, message->key, message->key_len);
    event->key_bytes = message->key_len;
    transaction->next[message->partition] = message->offset + 1;
}

// Hands over what there is, and waits only where that is as much as fits.
static bool hand_over(struct transaction *transaction, bool waits) {
    pthread_mutex_lock(&lock);
    while (waits && waiting && !stopping) pthread_cond_wait(&changed, &lock);
    bool is_taken = !waiting;
    if (is_taken) waiting = transaction;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    return is_taken;
}

static void *take(void *context) {
    const struct taker *taker = context;
    const struct options *options = taker->options;
    struct transaction *transaction = make_transaction(options);
    while (!stopping) {
        rd_kafka_message_t *message = rd_kafka_consumer_poll(taker->consumer, transaction->count ? TAKE_MS : 100);
        if (message && message->err && message->err != RD_KAFKA_RESP_ERR__PARTITION_EOF)
            fail("consuming", rd_kafka_message_errstr(message));
        if (message && !message->err) note(transaction, message);
        bool is_full = transaction->count == options->transaction_events;
        if ((is_full || (!message && transaction->count)) && hand_over(transaction, is_full))
            transaction = make_transaction(options);
        if (message) rd_kafka_message_destroy(message);
    }
    return NULL;
}

// MARK: Publishing

// The ten headers of a token's record in their order, each as long as it is there; the one without a value is the key.
static rd_kafka_headers_t *make_headers(const struct event *event) {
    static const char *const pairs[][2] = {
        {"ce_specversion", "1.0"}, {"ce_id", "remint-bench-00000000.invalidations-0-0"},
        {"ce_source", "/remint/shop-infobip"}, {"ce_type", "remint.token.replaced.v1"}, {"ce_subject", NULL},
        {"ce_time", "2026-01-01T00:00:00Z"}, {"content-type", "application/json"}, {"remint-key-id", "bench-1"},
        {"remint-expires-at", "1767225600"}, {"remint-version", "1767225600000000"}};
    const size_t count = sizeof pairs / sizeof *pairs;
    rd_kafka_headers_t *headers = rd_kafka_headers_new(count);
    for (size_t index = 0; index < count; index++) {
        const char *value = pairs[index][1];
        ssize_t length = value ? (ssize_t)strlen(value) : (ssize_t)event->key_bytes;
        rd_kafka_header_add(headers, pairs[index][0], -1, value ? value : event->key, length);
    }
    return headers;
}

static void produce(rd_kafka_t *producer, const struct options *options, const struct event *event, char *value) {
    rd_kafka_headers_t *headers = make_headers(event);
    rd_kafka_resp_err_t error;
    while ((error = rd_kafka_producev(
                producer, RD_KAFKA_V_TOPIC(options->output), RD_KAFKA_V_KEY(event->key, event->key_bytes),
                RD_KAFKA_V_VALUE(value, options->value_bytes), RD_KAFKA_V_HEADERS(headers),
                RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_END)) == RD_KAFKA_RESP_ERR__QUEUE_FULL)
        rd_kafka_poll(producer, 10);
    if (error) fail("producing", rd_kafka_err2str(error));
}

static void publish(
    rd_kafka_t *producer, rd_kafka_t *consumer, const struct options *options, const struct transaction *transaction,
    char *value) {
    require(rd_kafka_begin_transaction(producer), "beginning a transaction");
    for (int index = 0; index < transaction->count; index++)
        produce(producer, options, &transaction->events[index], value);
    rd_kafka_topic_partition_list_t *offsets = rd_kafka_topic_partition_list_new(MAX_PARTITIONS);
    for (int number = 0; number < MAX_PARTITIONS; number++)
        if (transaction->next[number] >= 0)
            rd_kafka_topic_partition_list_add(offsets, options->input, number)->offset = transaction->next[number];
    rd_kafka_flush(producer, LIMIT_MS);
    if (failures) fail("delivering", "records were not written");
    rd_kafka_consumer_group_metadata_t *member = rd_kafka_consumer_group_metadata(consumer);
    require(rd_kafka_send_offsets_to_transaction(producer, offsets, member, LIMIT_MS), "sending offsets");
    require(rd_kafka_commit_transaction(producer, LIMIT_MS), "committing");
    rd_kafka_consumer_group_metadata_destroy(member);
    rd_kafka_topic_partition_list_destroy(offsets);
}

static struct transaction *next_transaction(void) {
    pthread_mutex_lock(&lock);
    while (!waiting && !stopping) {
        struct timespec moment;
        clock_gettime(CLOCK_REALTIME, &moment);
        moment.tv_sec += 1;
        pthread_cond_timedwait(&changed, &lock, &moment);
    }
    struct transaction *transaction = waiting;
    waiting = NULL;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    return transaction;
}

// MARK: The program

static struct options parse(int count, char **arguments) {
    struct options options = {0};
    const struct option names[] = {
        {"brokers", required_argument, NULL, 'b'}, {"group", required_argument, NULL, 'g'},
        {"input", required_argument, NULL, 'i'}, {"output", required_argument, NULL, 'o'},
        {"value-bytes", required_argument, NULL, 'v'}, {"transaction-events", required_argument, NULL, 't'}, {0}};
    for (int letter; (letter = getopt_long(count, arguments, "", names, NULL)) != -1;) switch (letter) {
            case 'b': options.brokers = optarg; break;
            case 'g': options.group = optarg; break;
            case 'i': options.input = optarg; break;
            case 'o': options.output = optarg; break;
            case 'v': options.value_bytes = (size_t)atol(optarg); break;
            case 't': options.transaction_events = atoi(optarg); break;
            default: exit(2);
        }
    if (!options.brokers || !options.group || !options.input || !options.output || options.value_bytes < 1 ||
        options.transaction_events < 1) {
        fprintf(
            stderr, "librdkafka-relay: --brokers, --group, --input, --output and, above 0, --value-bytes and "
                    "--transaction-events are needed\n");
        exit(2);
    }
    return options;
}

int main(int count, char **arguments) {
    const struct options options = parse(count, arguments);
    signal(SIGTERM, stop);
    signal(SIGINT, stop);
    char *value = malloc(options.value_bytes);
    if (!value) fail("a value", "no memory");
    memset(value, 'x', options.value_bytes);
    rd_kafka_t *producer = make_producer(&options), *consumer = make_consumer(&options);
    struct taker taker = {consumer, &options};
    pthread_t thread;
    if (pthread_create(&thread, NULL, take, &taker)) fail("a thread", "none to be had");
    for (struct transaction *transaction; (transaction = next_transaction());) {
        publish(producer, consumer, &options, transaction, value);
        free(transaction);
        usleep(REST_MICROSECONDS);
    }
    pthread_join(thread, NULL);
    rd_kafka_consumer_close(consumer);
    rd_kafka_destroy(consumer);
    rd_kafka_destroy(producer);
    return 0;
}
