"""Access tokens: kept without their secrets, judged by the store's clock, revoked for good, each tenant's its own."""

from typing import Any, Final

from msgspec.structs import replace

from detent.client.moments import to_moment
from detent.client.tokens import NewToken, authenticated
from detent.store.query import DAY_S
from detent.store.tokens import TOKEN_KEPT_S, TOKENS_MAX, Token
from detent.testing.contract.bench import Bench, Contract, refused, scenario

DIGEST: Final = "0123456789abcdef" * 4
WHOLE: Final = Token(
    id="t1", name='the "ocr" é', tenant="default", scopes=("submit", "work"), worker="w1", digest=DIGEST,
    created_by="ann", expires_at=60_000_000,
)  # fmt: skip


async def made(bench: Bench, name: str = "ci", **more: Any) -> NewToken:
    return await bench.client.create_token(name, **{"scopes": ["submit"], **more})


async def judged(bench: Bench, new: NewToken, code: str | None = None) -> None:
    """It holds; or else it is refused with this code."""
    if code is None:
        assert (await authenticated(bench.store, new.text)).id == new.token.id
    else:
        await refused(authenticated(bench.store, new.text), code)


class TokensKept(Contract):
    @scenario()
    async def test_token_is_kept_as_it_is_brought_from_the_stores_now_on(self, bench: Bench) -> None:
        now = bench.clock()
        kept = await bench.store.keep_token(WHOLE)
        bench.clock.pass_s(5)
        found = await bench.store.token("t1")

        assert kept == replace(WHOLE, created_at=now, expires_at=now + 60_000_000)
        assert found == (kept, now + 5_000_000)
        assert await bench.store.tokens("default") == [kept]
        assert await bench.store.token("t2") is None

    @scenario()
    async def test_it_is_the_lifetime_of_a_token_that_is_kept_whatever_its_makers_clock(self, bench: Bench) -> None:
        kept = await bench.store.keep_token(replace(WHOLE, created_at=50_000_000, expires_at=60_000_000))

        assert (kept.created_at, kept.lifetime) == (bench.clock(), 10_000_000)

    @scenario("ALL-05")
    async def test_same_token_again_is_answered_with_what_is_kept_and_another_is_refused(self, bench: Bench) -> None:
        first = await bench.store.keep_token(WHOLE)
        bench.clock.pass_s(5)

        assert await bench.store.keep_token(WHOLE) == first
        for change in ({"digest": "f" * 64}, {"tenant": "other"}, {"scopes": ("admin", "work")}, {"name": "other"}):
            await refused(bench.store.keep_token(replace(WHOLE, **change)), "invalid_argument")
        assert await bench.store.tokens(None) == [first]

    @scenario()
    async def test_token_holds_until_the_moment_at_which_it_expires(self, bench: Bench) -> None:
        new = await made(bench, expires_s=10)
        lasting = await made(bench, expires_s=None)
        bench.clock.pass_s(9.999_999)
        await judged(bench, new)
        bench.clock.pass_s(0.000_001)
        await judged(bench, new, "token_expired")
        bench.clock.pass_s(10_000 * DAY_S)

        await judged(bench, lasting)

    @scenario()
    async def test_revoked_token_is_good_for_nothing_and_the_first_who_revoked_it_stands(self, bench: Bench) -> None:
        new, other = await made(bench), await made(bench)
        since = to_moment(bench.clock())
        await bench.client.revoke_token(new.token.id, actor="ann")
        bench.clock.pass_s(5)
        await bench.client.revoke_token(new.token.id, actor="bob")

        await judged(bench, new, "token_revoked")
        await judged(bench, other)
        (revoked,) = [each for each in await bench.client.tokens() if each.id == new.token.id]
        assert (revoked.revoked_at, revoked.revoked_by) == (since, "ann")
        await refused(bench.client.revoke_token("nobody"), "not_found")

    @scenario()
    async def test_tokens_are_listed_the_newest_first(self, bench: Bench) -> None:
        for name in ("a", "b", "c"):
            await made(bench, name)
            bench.clock.pass_s(1)

        assert [token.name for token in await bench.client.tokens()] == ["c", "b", "a"]

    @scenario("ALL-18")
    async def test_tenant_has_its_own_tokens_alone(self, bench: Bench) -> None:
        other = await bench.tenant("other")
        new = await made(bench)
        wide = await made(bench, "root", scopes=["admin"], any_tenant=True)
        await refused(other.revoke_token(new.token.id), "not_found")
        await refused(other.revoke_token(wide.token.id), "not_found")
        await refused(bench.client.revoke_token(wide.token.id), "not_found")

        assert await other.tokens() == []
        assert await bench.client.tokens() == [new.token]
        assert {each.id for each in await bench.client.tokens(all_tenants=True)} == {new.token.id, wide.token.id}
        await judged(bench, new)
        await bench.client.revoke_token(wide.token.id, all_tenants=True)
        await judged(bench, wide, "token_revoked")

    @scenario("ALL-02")
    async def test_more_live_tokens_than_there_may_be_are_refused_and_others_do_not_count(self, bench: Bench) -> None:
        other = await bench.tenant("other")
        ids = [f"t{number}" for number in range(TOKENS_MAX)]
        for each in ids:
            await bench.store.keep_token(replace(WHOLE, id=each, expires_at=None))
        await refused(made(bench), "invalid_argument")
        await other.create_token("ci", scopes=["read"])
        await made(bench, "root", scopes=["admin"], any_tenant=True)
        assert len(await bench.client.tokens()) == TOKENS_MAX
        await bench.client.revoke_token("t0")
        brief = await made(bench, expires_s=1)
        await refused(made(bench), "invalid_argument")
        bench.clock.pass_s(1)

        await judged(bench, await made(bench))
        await judged(bench, brief, "token_expired")

    @scenario()
    async def test_tokens_that_have_long_been_over_are_removed_and_no_others(self, bench: Bench) -> None:
        for name, expires_s in (("lasting", None), ("expired", 10), ("later", TOKEN_KEPT_S)):
            await made(bench, name, expires_s=expires_s)
        revoked = await made(bench, "revoked", expires_s=None)
        bench.clock.pass_s(10)
        await bench.client.revoke_token(revoked.token.id)
        kept = []
        for seconds in (TOKEN_KEPT_S - 1, 1):
            bench.clock.pass_s(seconds)
            await bench.client.prune()
            kept.append(sorted(each.name for each in await bench.client.tokens()))

        assert kept == [["expired", "lasting", "later", "revoked"], ["lasting", "later"]]
