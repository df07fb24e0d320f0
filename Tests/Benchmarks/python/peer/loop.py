"""Consume, mint, produce, commit: one process of the worker."""

import sys
import time

from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaException, Producer, TopicPartition

from .minting import App, signer
from .records import Clock, dead_letter_headers, subject_key, token
from .reports import Rejection, decode, subject

COALESCE_MS = 2000
REMEMBERED = 1_000_000


class RecentMints:
    """Who got a token when. Two generations, so that forgetting the oldest costs nothing."""

    def __init__(self):
        self.young, self.old, self.staged = {}, {}, {}

    def last(self, key):
        return self.staged.get(key) or self.young.get(key) or self.old.get(key)

    def commit(self):
        self.young.update(self.staged)
        self.staged = {}
        if len(self.young) > REMEMBERED // 2:
            self.young, self.old = {}, self.young

    def roll_back(self):
        self.staged = {}


class Loop:
    """The consumer, the producer and the open transaction between them."""

    def __init__(self, configuration, number):
        properties = configuration.get("properties", {})
        group = configuration["group"]
        session = int(properties.get("session.timeout.ms", 45_000))
        common = {"bootstrap.servers": configuration["brokers"], "socket.nagle.disable": True}
        self.consumer = Consumer({
            **common, "group.id": group, "auto.offset.reset": "earliest", "isolation.level": "read_committed",
            "enable.auto.commit": False, "enable.auto.offset.store": False, "session.timeout.ms": session,
            "partition.assignment.strategy": "range", "queued.min.messages": 100_000, "fetch.queue.backoff.ms": 20,
        })
        # A hung transaction must end before the group hands its partitions on.
        limit = min(15_000, session // 2)
        self.producer = Producer({
            **common, "transactional.id": f"{group}-peer-{number}", "transaction.timeout.ms": limit,
            "message.timeout.ms": limit, "linger.ms": 5, "queue.buffering.max.messages": 500_000,
            "batch.num.messages": 10_000, "partitioner": "murmur2_random",
        })
        self.topics, self.span = configuration["topics"], configuration.get("transaction_seconds", 0.1)
        jws = signer()
        self.apps = {name: App(name, settings, jws) for name, settings in configuration["apps"].items()}
        self.recent, self.clock = RecentMints(), Clock()
        self.offsets, self.began, self.epoch, self.stopping = {}, None, 0, False

    def run(self):
        self.producer.init_transactions(60)
        self.consumer.subscribe(
            [self.topics["invalidations"]], on_assign=self.assigned, on_revoke=self.revoked, on_lost=self.lost)
        while not self.stopping:
            self.turn()
        self.finish()
        self.consumer.close()

    def turn(self):
        """One batch; commits once the transaction has been open for long enough, or nothing more is there."""
        epoch = self.epoch
        messages = self.consumer.consume(500, 0.01 if self.began else 0.1)
        if epoch != self.epoch and messages:
            # A rebalance within the call: which side of it these are of is not known. Start from what is committed.
            return self.rewind()
        for message in messages:
            if message.error():
                raise KafkaException(message.error())
            self.begin()
            self.answer(message)
            self.offsets[message.topic(), message.partition()] = message.offset() + 1
        self.producer.poll(0)
        if self.began and (not messages or time.monotonic() - self.began >= self.span):
            self.finish() or self.rewind()

    # One event

    def answer(self, message):
        try:
            event = decode(message)
            app = self.apps.get(event.app)
            if app is None:
                raise Rejection("unknown_app", "no app of that name is configured")
            user = subject(event, app.vendor)
        except Rejection as rejection:
            return self.produce(
                self.topics["dead_letters"], message.key(), message.value(), dead_letter_headers(message, rejection))
        if user is None:
            return
        key = subject_key(app.name, user)
        last = self.recent.last(key)
        if last is not None and event.observed_ms <= last + COALESCE_MS:
            return
        now = time.time_ns()
        second = now // 1_000_000_000
        version = self.clock.next_version(now // 1000)
        signed = app.mint(user, second)
        value, headers = token(event, app, key, user, signed, second, self.clock, version)
        self.produce(self.topics["tokens"], key, value, headers)
        self.recent.staged[key] = now // 1_000_000

    def produce(self, topic, key, value, headers):
        while True:
            try:
                return self.producer.produce(topic, value, key, headers=headers)
            except BufferError:
                self.producer.poll(0.1)

    # Transactions

    def begin(self):
        if self.began is None:
            self.producer.begin_transaction()
            self.began = time.monotonic()

    def finish(self):
        """Commits what is open. False where it had to be aborted; any error that is not for that ends the process."""
        if self.began is None:
            return True
        try:
            offsets = [TopicPartition(topic, part, offset) for (topic, part), offset in self.offsets.items()]
            retrying(self.producer.send_offsets_to_transaction, offsets, self.consumer.consumer_group_metadata())
            retrying(self.producer.commit_transaction)
        except KafkaException as error:
            if not error.args[0].txn_requires_abort():
                raise
            print(f"aborted: {error}", file=sys.stderr, flush=True)
            self.abort()
            return False
        self.recent.commit()
        self.offsets, self.began = {}, None
        return True

    def abort(self):
        if self.began is not None:
            retrying(self.producer.abort_transaction)
        self.recent.roll_back()
        self.offsets, self.began = {}, None

    def rewind(self):
        """Goes on from the committed offsets."""
        self.abort()
        assignment = self.consumer.assignment()
        for position in self.consumer.committed(assignment, 30) if assignment else ():
            if position.offset < 0:
                position.offset = OFFSET_BEGINNING
            retrying(self.consumer.seek, position, patience=5)

    # Rebalances, all within consume()

    def assigned(self, consumer, partitions):
        self.epoch += 1

    def revoked(self, consumer, partitions):
        self.epoch += 1
        self.finish()

    def lost(self, consumer, partitions):
        self.epoch += 1
        self.abort()


def retrying(call, *arguments, patience=0):
    """Repeats a call while it says that it may pass; with patience, for so many seconds whatever it says."""
    end = time.monotonic() + patience
    while True:
        try:
            return call(*arguments)
        except KafkaException as error:
            if not error.args[0].retriable() and time.monotonic() >= end:
                raise
            time.sleep(0.02)
