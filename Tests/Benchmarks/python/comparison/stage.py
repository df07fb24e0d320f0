"""Topics of a round's own, filled with events, and a group to watch."""

import json
import secrets
import time

from confluent_kafka import ConsumerGroupState, ConsumerGroupTopicPartitions, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from .figures import Trouble
from .shop import APPS

PARTITIONS = 6
TIERS = ["10s", "1m", "10m"]


class Stage:
    """What one worker works on in one round."""

    def __init__(self, brokers, algorithm, events):
        self.brokers, self.app, self.events = brokers, APPS[algorithm], events
        self.admin = AdminClient({"bootstrap.servers": brokers})
        self.group = f"remint-bench-{secrets.token_hex(4)}"
        self.topics = {
            "invalidations": f"{self.group}.invalidations", "invalidations_bulk": f"{self.group}.invalidations.bulk",
            "tokens": f"{self.group}.tokens", "dead_letters": f"{self.group}.dead-letters",
            "retries": f"{self.group}.retries",
        }
        plain = [self.topics[name] for name in ("invalidations", "invalidations_bulk", "dead_letters")]
        self.all = [*plain, *(f"{self.topics['retries']}.{tier}" for tier in TIERS), self.topics["tokens"]]

    def __enter__(self):
        new = [NewTopic(name, PARTITIONS, 1) for name in self.all[:-1]]
        new.append(NewTopic(self.all[-1], PARTITIONS, 1, config={"cleanup.policy": "compact,delete"}))
        settle(self.admin.create_topics(new))
        # The controller answers before every broker knows the topics.
        while any(len(self.partitions(name)) < PARTITIONS for name in self.all):
            time.sleep(0.05)
        return self

    def __exit__(self, *_):
        """What is taken away is this round's own; a cluster that does not let us keeps it."""
        groups = [self.group, f"{self.group}-retries", f"{self.group}-bulk"]
        for futures in (self.admin.delete_consumer_groups(groups), self.admin.delete_topics(self.all)):
            for future in futures.values():
                try:
                    future.result(30)
                except KafkaException:
                    pass

    def partitions(self, topic):
        found = self.admin.list_topics(topic, timeout=30).topics[topic]
        return [] if found.error else list(found.partitions)

    def user(self, number):
        return f"user-{number:08}"

    def fill(self):
        """One raw report for each of so many users, in their order, in a transaction that is left open: whoever reads
        committed records sees none of them before `open`."""
        self.producer = Producer({
            "bootstrap.servers": self.brokers, "transactional.id": f"{self.group}-fill", "linger.ms": 50,
            "transaction.timeout.ms": 600_000, "queue.buffering.max.messages": 1_000_000,
            "partitioner": "murmur2_random",
        })
        self.producer.init_transactions(60)
        self.producer.begin_transaction()
        name, topic = self.app["name"], self.topics["invalidations"]
        for number in range(self.events):
            user = self.user(number)
            value = json.dumps(self.app["report"](user), separators=(",", ":"))
            self.producer.produce(topic, value, f"{name}/{user}", headers=[("remint-app", name)])
            if number % 1000 == 0:
                self.producer.poll(0)
        if self.producer.flush(120):
            raise Trouble("the broker did not take the events within two minutes")

    def open(self):
        """All events are there from now on."""
        self.producer.commit_transaction(60)

    def is_shared_by(self, members):
        """Whether the group has settled, with so many members that have all partitions between them."""
        try:
            group = self.admin.describe_consumer_groups([self.group])[self.group].result(10)
        except KafkaException:
            return False
        assigned = sum(len(member.assignment.topic_partitions) for member in group.members)
        return group.state == ConsumerGroupState.STABLE and (len(group.members), assigned) == (members, PARTITIONS)

    def committed(self):
        """How many events are behind the group's committed offsets."""
        wanted = [TopicPartition(self.topics["invalidations"], number) for number in range(PARTITIONS)]
        request = ConsumerGroupTopicPartitions(self.group, wanted)
        try:
            answer = self.admin.list_consumer_group_offsets([request])[self.group].result(10)
        except KafkaException as error:
            # A group that nobody has joined yet may have no coordinator.
            if error.args[0].retriable():
                return 0
            raise
        # A position may stand behind the mark that ends the events' own transaction.
        return min(self.events, sum(max(0, position.offset) for position in answer.topic_partitions))


def settle(futures):
    for name, future in futures.items():
        try:
            future.result(30)
        except KafkaException as error:
            raise Trouble(f"{name}: {error.args[0].str()}") from None
