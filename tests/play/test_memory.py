"""What the story's CO remembers: it tells its own volumes from those that are out of band."""

from __future__ import annotations

from tests.play.stories import goes_well

CLOUD = """
    instance_types: {t: {slots: 3}}
    instances:
      - {id: i-1, type: t, published: [vol-1, vol-2], boot_disk: vol-boot}
      - {id: i-2, type: t, attached: [vol-manual]}
    disks: [{id: vol-x}, {id: vol-y}, {id: vol-shared, max_attachments: 2}]
"""


def test_it_knows_what_is_published_when_the_story_begins() -> None:
    goes_well(
        """
        - refresh: {node: i-1}
          expect: {published_volume_ids: 3, effective_limit: 2}
        - refresh: {node: i-2}
          expect: {published_volume_ids: 1, effective_limit: 2}
        """,
        CLOUD,
    )


def test_it_remembers_a_volume_that_it_tried_whatever_the_answer() -> None:
    goes_well(
        """
        - publish: {node: i-1, volume: vol-x}
          expect: {code: RESOURCE_EXHAUSTED}
        - unpublish: {node: i-1, volume: vol-1}
        # An operator attaches the very volume: it is the CO's, which tried it.
        - attach: {instance: i-1, disk: vol-x}
        - refresh: {node: i-1}
          expect: {published_volume_ids: [vol-boot, vol-2, vol-x], effective_limit: 2}
        # An Unpublish that is OK makes an end of it.
        - unpublish: {node: i-1, volume: vol-x}
        - attach: {instance: i-1, disk: vol-x}
        - refresh: {node: i-1}
          expect: {published_volume_ids: [vol-boot, vol-2, vol-x], effective_limit: 1}
        """,
        CLOUD,
    )


def test_it_remembers_a_volume_by_node() -> None:
    goes_well(
        """
        - publish: {node: i-1, volume: vol-x}
          expect: {code: RESOURCE_EXHAUSTED}
        - attach: {instance: i-2, disk: vol-x}
        - refresh: {node: i-2}
          expect: {published_volume_ids: 2, effective_limit: 1}
        """,
        CLOUD,
    )


def test_it_forgets_nothing_when_unpublish_fails() -> None:
    goes_well(
        """
        - set_quota: {detach: {burst: 0, per_second: 0}}
        - unpublish: {node: i-1, volume: vol-1}
          expect: {code: UNAVAILABLE}
        - refresh: {node: i-1}
          expect: {published_volume_ids: 3, effective_limit: 2}
        - set_quota: {detach: {}}
        - unpublish: {node: i-1, volume: vol-1}
        - attach: {instance: i-1, disk: vol-1}
        - refresh: {node: i-1}
          expect: {published_volume_ids: 3, effective_limit: 1}
        """,
        CLOUD,
    )


def test_it_forgets_a_volume_on_every_node_when_it_is_unpublished_from_all() -> None:
    goes_well(
        """
        - unpublish: {node: i-1, volume: vol-1}
        - publish: {node: i-1, volume: vol-shared, access_mode: MULTI_NODE_MULTI_WRITER}
        - publish: {node: i-2, volume: vol-shared, access_mode: MULTI_NODE_MULTI_WRITER}
        - unpublish: {volume: vol-shared}
        - attach: {instance: i-1, disk: vol-shared}
        - attach: {instance: i-2, disk: vol-shared}
        - refresh: {node: i-1}
          expect: {effective_limit: 1}
        - refresh: {node: i-2}
          expect: {effective_limit: 1}
        """,
        CLOUD,
    )


def test_it_remembers_what_somebody_else_detaches() -> None:
    goes_well(
        """
        - detach: {instance: i-1, disk: vol-1}
        - attach: {instance: i-1, disk: vol-1}
        - refresh: {node: i-1}
          expect: {published_volume_ids: 3, effective_limit: 2}
        """,
        CLOUD,
    )


def test_it_outlives_a_restart_of_the_driver() -> None:
    goes_well(
        """
        - publish: {node: i-2, volume: vol-x}
        - unpublish: {node: i-1, volume: vol-1}
        - attach: {instance: i-1, disk: vol-1}
        - restart_driver: {}
        - refresh: {node: i-2}
          expect: {published_volume_ids: 2, effective_limit: 2}
        - refresh: {node: i-1}
          expect: {published_volume_ids: 3, effective_limit: 1}
        - restart_driver: {state: lose}
        - refresh: {node: i-1}
          expect: {published_volume_ids: 3, effective_limit: 2}
        - attach: {instance: i-2, disk: vol-x}
        - refresh: {node: i-2}
          expect: {published_volume_ids: 2, effective_limit: 1}
        """,
        CLOUD,
    )


def test_unpublish_by_count_takes_what_is_published_before_what_was_only_tried() -> None:
    goes_well(
        """
        - publish: {node: i-1, volume: vol-x}
          expect: {code: RESOURCE_EXHAUSTED}
        - unpublish: {node: i-1, count: 2}
        - refresh: {node: i-1}
          expect: {published_volume_ids: [vol-boot]}
        # What is left is the one that was tried, and it is unpublished too.
        - unpublish: {node: i-1, count: 1}
          expect: {OK: 1, cloud_calls: {detach: 1}}
        """,
        CLOUD,
    )
