"""Keys, accounts, limits and paths."""

import os

from case import BY_URL, PERSON, InterfaceTest, image_id
from service import API_KEY, call

OTHER, POOR, SLOW = (os.environ[name] for name in ("OTHER_API_KEY", "POOR_API_KEY", "SLOW_API_KEY"))


class Access(InterfaceTest):
    def test_needs_a_key(self):
        for method, path in (("GET", "/account"), ("POST", "/try-on"), ("GET", "/products"), ("DELETE", "/customers/x")):
            self.assertError(call(method, path, key=None), 401, "MISSING_API_KEY")
            self.assertError(call(method, path, key="sk_wrong"), 401, "INVALID_API_KEY")

    def test_shows_the_account(self):
        account = self.assertSuccess(call("GET", "/account"))
        self.assertIsInstance(account["id"], str)
        self.assertIsInstance(account["name"], str)
        self.assertIsInstance(account["creditBalance"], int)
        self.assertIs(account["isActive"], True)
        self.assertTime(account["createdAt"])
        self.assertIsInstance(account.get("email") or "", str)

    def test_keeps_accounts_apart(self):
        body = {"products": [{"images": BY_URL}], "person": {"image": {"source": {"id": image_id()}}}}
        mine = self.try_on(body)
        self.assertError(call("GET", f"/generations/{mine['generationId']}", key=OTHER), 403, "FORBIDDEN")
        self.assertError(call("GET", f"/products/{mine['productExternalId']}", key=OTHER), 403, "FORBIDDEN")
        self.assertError(call("GET", "/generations/gen_unknown"), 404, "GENERATION_NOT_FOUND")

    def test_has_no_credits(self):
        photo = {"products": [{"images": BY_URL}], "person": {"image": {"source": {"fileKey": "me"}}}}
        self.assertError(call("POST", "/try-on", photo, key=POOR, files={"me": PERSON}), 402, "INSUFFICIENT_CREDITS")

    def test_is_limited_and_names_the_time_to_wait(self):
        answers = [call("POST", "/products", {}, key=SLOW) for _ in range(4)]
        limited = answers[-1]
        self.assertError(limited, 429, "RATE_LIMITED")
        self.assertGreaterEqual(int(limited.headers["Retry-After"]), 1)
        for answer in answers:
            self.assertEqual(answer.headers["RateLimit-Limit"], "3")
            self.assertGreaterEqual(int(answer.headers["RateLimit-Remaining"]), 0)
            self.assertGreaterEqual(int(answer.headers["RateLimit-Reset"]), 0)

    def test_lets_a_catalog_of_40_in_at_once(self):
        statuses = [call("POST", "/products", {"externalId": f"sync-{i}", "images": BY_URL}, key=OTHER).status for i in range(40)]
        self.assertEqual(set(statuses), {200})

    def test_knows_no_other_paths(self):
        for method, path in (("GET", "/nothing"), ("POST", "/Try-On"), ("GET", "/Account")):
            self.assertError(call(method, path, key=API_KEY), 404, "ROUTE_NOT_FOUND")
        self.assertGreaterEqual(call("GET", "/generations").status, 404)
