"""Proof that the contract bites: stores with one mistake each, and the scenario that must notice it."""

import subprocess
import sys
from typing import Final

import pytest

from detent.errors import DetentError
from detent.store import Store
from detent.store.clock import Clock, Random
from detent.testing import MemoryStore, StoreContract
from detent.testing.contract import tailing
from tests.store import (
    broken,
    broken_ages,
    broken_answers,
    broken_fleet,
    broken_judging,
    broken_limits,
    broken_looking,
    broken_tokens,
)
from tests.store.contract_ids import scenarios_of

NOTICED: Final[dict[type[MemoryStore], str]] = {
    broken.LosesEvents: "test_each_mutation_is_one_event_and_one_step_of_rev",
    broken.LosesRecords: "test_record_is_kept_as_answered_at_every_step",
    broken.ForgetsRequests: "test_repeat_of_a_verb_answers_with_the_job_as_it_is_and_changes_nothing",
    broken.ForgetsClaims: "test_repeated_claim_returns_what_it_still_holds_and_no_more",
    broken.NeverForgetsRequests: "test_request_is_forgotten_after_its_time_and_not_before",
    broken.SharesRequestsAmongTenants: "test_same_request_on_the_same_id_has_an_effect_in_each_tenant",
    broken.IgnoresTheLease: "test_worker_with_expired_lease_cannot_finish_job",
    broken.KeepsDedupeKeys: "test_dedupe_key_is_free_when_its_job_has_ended",
    broken.HasNoDedupeKeys: "test_dedupe_key_names_one_live_job_of_a_kind",
    broken.ForgetsWhatAChangeSpawned: "test_failed_job_is_run_again_in_the_same_change_where_the_policy_wants_it",
    broken.ForgetsWhatWasNoted: "test_job_is_run_again_once_its_work_is_undone_and_not_before",
    broken.NotesOnTheJobThatSpeaks: "test_success_of_the_compensation_is_noted_on_the_job",
    broken.DropsArtifactsWithProgress: "test_artifacts_outlast_progress",
    broken.CountsNotesOfAllKindsTogether: "test_job_has_a_bounded_number_of_artifacts_and_progress_takes_none_of_it",
    broken.LosesWhatACancelWasLike: "test_hard_cancel_discards_what_every_attempt_has_made",
    broken.KeepsEveryNote: "test_job_keeps_a_bounded_number_of_late_results",
    broken.IgnoresTheTenant: "test_another_tenants_job_is_not_found_by_any_read",
    broken.LosesTheRace: "test_of_two_that_finish_the_same_attempt_one_does",
    broken.ClaimsTwice: "test_sixty_four_claimers_at_once_never_share_a_job",
    broken.DecidesABatchAtOnce: "test_same_job_twice_in_a_batch_sees_what_the_first_did",
    broken.ClaimsInTheOrderOfMaking: "test_higher_priority_goes_first_and_lower_ages",
    broken.SkipsAnEvent: "test_tail_loses_and_doubles_nothing_while_others_write",
    broken.DoublesAJobBetweenPages: "test_pages_go_newest_first_without_loss_or_double",
    broken.PrunesLiveJobs: "test_jobs_not_ended_are_never_removed",
    broken.PrunesWithoutEnd: "test_removal_goes_in_batches_of_at_most_the_limit",
    broken_looking.TakesWhatItLooksAt: "test_look_tells_what_a_claim_takes_in_its_order_and_takes_nothing",
    broken_looking.LooksInTheOrderOfMaking: "test_look_tells_what_a_claim_takes_in_its_order_and_takes_nothing",
    broken_looking.LooksAtKeysThatAreUsedUp: "test_look_passes_over_paused_queues_and_keys_that_are_used_up",
    broken_looking.LooksAtEveryAdapter: ("test_look_is_at_what_is_due_of_queues_kinds_and_adapters_that_are_asked_for"),
    broken_looking.LooksAtEverything: "test_look_is_at_so_many_and_of_any_kind_if_none_is_named",
    broken_ages.TakesTheFirstForTheOldest: (
        "test_oldest_ready_job_is_the_one_that_waits_longest_not_the_first_in_the_order"
    ),
    broken_ages.CountsJobsForLater: "test_job_for_later_waits_from_its_moment_on",
    broken_ages.CountsFromTheMaking: ("test_what_is_at_work_or_has_ended_waits_no_more_and_a_retry_waits_anew"),
    broken_ages.PassesOverPausedQueues: "test_jobs_of_a_paused_queue_wait_all_the_same",
    broken_ages.IsAsOldAsAllTenants: "test_oldest_ready_job_is_the_tenants_own",
    broken_answers.CountsEverything: "test_count_takes_every_filter_that_a_listing_takes",
    broken_answers.CountsAllTenants: "test_count_keeps_to_its_tenant",
    broken_answers.CountsNothingAsNothing: "test_count_by_nothing_is_one_number_also_where_there_is_nothing",
    broken_answers.CountsInAnOrderOfItsOwn: "test_jobs_are_counted_by_any_of_their_values",
    broken_answers.CountsVersionsApart: "test_versions_of_a_lifecycle_are_counted_together",
    broken_answers.TakesTheOldestForTheNewest: "test_newest_events_come_in_the_order_of_commit",
    broken_answers.TellsBackwards: "test_newest_events_come_in_the_order_of_commit",
    broken_answers.LooksForTheNewestFirst: "test_newest_events_are_those_that_match",
    broken_answers.IgnoresTheVerb: "test_log_is_read_by_verb_onwards_too",
    broken_answers.DoesNotSayHowFarItLooked: "test_reading_on_from_where_it_stopped_gives_the_same_and_goes_on",
    broken_answers.NeverReachesTheBeginning: "test_where_the_beginning_was_reached_there_is_no_cursor",
    broken_answers.PurgesLiveJobs: "test_jobs_not_ended_and_ids_of_none_stay_out_of_it",
    broken_answers.PurgesAllTenants: "test_another_tenants_job_of_the_same_id_is_untouched",
    broken_answers.PurgesOldJobsOnly: "test_ended_jobs_are_removed_by_name_whatever_their_age",
    broken_answers.HidesWhatItPurges: "test_purged_job_leaves_nothing_behind",
    broken_answers.KeepsRequestsOfPurgedJobs: "test_id_of_a_purged_job_is_free_again_with_its_request_ids",
    broken_fleet.ResumesAtAnOldTick: "test_resumed_schedule_does_not_go_back_to_a_tick_that_nobody_let_pass_by",
    broken_answers.HasNoNews: "test_who_waits_for_work_is_woken_by_a_job_that_comes",
    broken_answers.HasNewsForWhoWaitsOnly: "test_work_that_came_before_anybody_waited_for_it_is_news",
    broken_limits.CountsNoLeases: "test_no_more_jobs_of_a_key_are_leased_than_its_limit",
    broken_limits.CountsWhatIsStartedOnly: "test_no_more_jobs_of_a_key_are_leased_than_its_limit",
    broken_limits.SharesLimitsAmongTenants: "test_each_key_has_a_limit_of_its_own_and_each_tenant",
    broken_limits.CountsQueuesApart: "test_kinds_that_name_the_same_key_share_it_across_queues",
    broken_limits.AllowsWhatTheNewestAllows: "test_job_runs_beside_no_more_of_its_key_than_it_allows_itself",
    broken_limits.ForgetsTheRate: "test_claim_counts_for_the_rate_though_its_job_has_ended",
    broken_limits.GivesUpAtTheFirstUsedUpKey: "test_jobs_of_a_used_up_key_are_passed_over_and_keep_their_order",
    broken_limits.LooksAThousandFar: "test_what_waits_behind_many_jobs_of_a_used_up_key_is_claimed",
    broken_limits.KeepsRatesForEver: "test_rate_is_forgotten_only_when_it_says_nothing_any_more",
    broken_limits.PrunesEveryRate: "test_rate_is_forgotten_only_when_it_says_nothing_any_more",
    broken_limits.NamesWhoeverWaits: "test_store_says_who_holds_a_key",
    broken_limits.NamesTheHoldersOfAllTenants: "test_store_says_who_holds_a_key",
    broken_fleet.ClaimsFromPausedQueues: "test_paused_queue_is_passed_over_until_it_is_resumed",
    broken_fleet.LooksAtTheFirstQueueOnly: "test_paused_queue_is_passed_over_until_it_is_resumed",
    broken_fleet.PausesKindsOnly: "test_no_way_of_asking_gets_a_job_from_a_paused_queue",
    broken_fleet.TakesJobsBackFromPausedQueues: "test_pause_leaves_alone_what_was_claimed_before",
    broken_fleet.ShutsPausedQueues: "test_jobs_still_come_into_a_paused_queue_and_back_to_it",
    broken_fleet.PausesForAllTenants: "test_pause_keeps_to_its_tenant",
    broken_fleet.PausesAnew: "test_pause_says_since_when_by_whom_and_why_and_the_first_stands",
    broken_fleet.ListsQueuesOnceLimited: "test_queues_are_listed_with_what_is_set_and_what_is_in_them",
    broken_fleet.KeepsTheFirstReport: "test_worker_is_listed_as_it_last_reported_itself",
    broken_fleet.BelievesTheWorkersClock: "test_worker_that_has_missed_three_reports_is_listed_no_more",
    broken_fleet.KeepsWorkersForEver: "test_worker_not_heard_of_for_a_day_is_forgotten_when_another_reports",
    broken_fleet.ForgetsNobody: "test_worker_that_takes_its_leave_is_gone_at_once",
    broken_fleet.SharesWorkersAmongTenants: "test_workers_of_another_tenant_are_not_listed",
    broken_fleet.RestartsSchedules: "test_schedule_that_is_brought_again_goes_on_where_it_was",
    broken_fleet.KeepsTheOldTime: "test_schedule_whose_time_has_changed_goes_on_from_what_it_brings",
    broken_fleet.GivesATickToEverybody: "test_of_all_that_try_for_a_tick_one_has_it",
    broken_fleet.EnqueuesBeforeItCompares: "test_job_of_a_tick_is_enqueued_once_however_many_try",
    broken_fleet.TicksWhilePaused: "test_ticks_of_a_paused_schedule_pass_by",
    broken_fleet.StandsStillWhilePaused: "test_ticks_of_a_paused_schedule_pass_by",
    broken_fleet.ResumesWhatIsBroughtAgain: "test_schedule_stays_paused_when_it_is_brought_again",
    broken_fleet.RemovesNoSchedule: "test_schedule_that_is_removed_has_no_ticks",
    broken_fleet.KeepsAnyNumberOfSchedules: (
        "test_more_schedules_than_there_may_be_are_refused_and_none_of_them_is_kept"
    ),
    broken_judging.TakesHeldJobsForUnjudged: "test_jobs_that_wait_for_a_verdict_are_found_the_oldest_first",
    broken_judging.AsksForOthersJobs: ("test_only_those_of_the_queues_kinds_and_tenant_asked_for_wait_for_this_gate"),
    broken_judging.BeginsAnewWithEachPage: ("test_pages_of_what_waits_for_a_verdict_go_on_where_the_last_ended"),
    broken_judging.PacesEachBatchByItself: "test_pace_of_a_rule_spaces_jobs_whoever_asks",
    broken_judging.PacesAllRulesTogether: "test_pace_of_a_rule_spaces_jobs_whoever_asks",
    broken_judging.DrivesJobsFurtherAndFurtherOff: "test_moments_of_a_rule_that_passed_unused_do_not_add_up",
    broken_tokens.BelievesTheMakersClock: "test_token_is_kept_as_it_is_brought_from_the_stores_now_on",
    broken_tokens.TakesTheEndForALifetime: (
        "test_it_is_the_lifetime_of_a_token_that_is_kept_whatever_its_makers_clock"
    ),
    broken_tokens.ReplacesTokens: "test_same_token_again_is_answered_with_what_is_kept_and_another_is_refused",
    broken_tokens.KnowsATokenOnce: "test_same_token_again_is_answered_with_what_is_kept_and_another_is_refused",
    broken_tokens.JudgesByTheTimeOfMaking: "test_token_holds_until_the_moment_at_which_it_expires",
    broken_tokens.RevokesAnew: "test_revoked_token_is_good_for_nothing_and_the_first_who_revoked_it_stands",
    broken_tokens.RevokesAllOfAName: "test_revoked_token_is_good_for_nothing_and_the_first_who_revoked_it_stands",
    broken_tokens.RevokesForAnybody: "test_tenant_has_its_own_tokens_alone",
    broken_tokens.TakesAnyTenantsForEverybodys: "test_tenant_has_its_own_tokens_alone",
    broken_tokens.ListsTheOldestFirst: "test_tokens_are_listed_the_newest_first",
    broken_tokens.ListsTokensOfAllTenants: "test_tenant_has_its_own_tokens_alone",
    broken_tokens.KeepsAnyNumberOfTokens: (
        "test_more_live_tokens_than_there_may_be_are_refused_and_others_do_not_count"
    ),
    broken_tokens.CountsTokensThatAreOver: (
        "test_more_live_tokens_than_there_may_be_are_refused_and_others_do_not_count"
    ),
    broken_tokens.KeepsTokensForEver: "test_tokens_that_have_long_been_over_are_removed_and_no_others",
    broken_tokens.ForgetsWhatIsOverAtOnce: "test_tokens_that_have_long_been_over_are_removed_and_no_others",
    broken.ReplacesDefinitions: "test_same_version_with_other_content_is_refused",
    broken.HasAClockOfItsOwn: "test_the_stores_clock_decides_not_the_callers",
    broken.ReconcilesOneTenant: "test_time_spares_no_tenant",
}


# Some themes of it, as somebody with a store of their own and another runner would use them.
WITH_UNITTEST: Final = """
import sys, unittest
from detent.testing import MemoryStore
from detent.testing.contract import StoreContract, claims, fences

class TestTheirStore(claims.Claims, fences.Fences, unittest.TestCase):
    def make_store(self, clock, random):
        return MemoryStore(clock=clock, random=random)

assert "pytest" not in sys.modules
unittest.main()
"""


def contract_of(kind: type[MemoryStore]) -> StoreContract:
    class Suite(StoreContract):
        def make_store(self, clock: Clock, random: Random) -> Store:
            return kind(clock=clock, random=random)

    return Suite()


def test_every_broken_store_is_tried() -> None:
    modules = (
        broken, broken_ages, broken_answers, broken_fleet, broken_judging, broken_limits, broken_looking, broken_tokens,
    )  # fmt: skip
    named = {name: each for module in modules for name, each in vars(module).items()}
    kinds = {each for each in named.values() if isinstance(each, type) and issubclass(each, MemoryStore)}

    assert set(NOTICED) == kinds - {MemoryStore, broken.OnShelf, broken_limits.OtherFacts}
    assert set(NOTICED.values()) <= set(scenarios_of(StoreContract))


@pytest.mark.requirement("CON-09")
@pytest.mark.parametrize("kind", NOTICED, ids=lambda kind: kind.__name__)
def test_a_mistake_of_a_store_is_noticed(kind: type[MemoryStore], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tailing, "WAIT_S", 0.2)  # what is lost does not come, however long one waits
    noticed_by = NOTICED[kind]

    # A scenario may also stumble: over a refusal it did not expect, or over more or fewer jobs than it unpacks.
    with pytest.raises((AssertionError, DetentError, ValueError)):
        getattr(contract_of(kind), noticed_by)()
    getattr(contract_of(MemoryStore), noticed_by)()


@pytest.mark.requirement("CON-09")
def test_contract_runs_without_pytest() -> None:
    ran = subprocess.run([sys.executable, "-c", WITH_UNITTEST], capture_output=True, text=True, check=False)

    assert ran.returncode == 0, ran.stderr
    assert "OK" in ran.stderr


def test_suite_without_a_store_says_what_is_missing() -> None:
    with pytest.raises(NotImplementedError, match="make_store"):
        StoreContract().test_job_is_read_back_as_it_was_made()
