"""What the client does with keys, IDs and answers that are not as they should be, without a service."""

from __future__ import annotations

import asyncio
import copy
import logging
import pickle
import threading
import unittest
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from multiprocessing import get_context
from typing import Any

from drape_client import (
    AsyncDrape,
    Drape,
    DrapeApiError,
    DrapeConnectionError,
    DrapeError,
    DrapeGenerationError,
    DrapeTimeoutError,
    DrapeWebhookError,
)

KEY = "sk_not_to_be_shown"
ACCOUNT = b'{"id": "acc_1", "items": []}'


class Server:
    """Answers each request with the next of `answers` (status, headers, body), then with an account. Records what it received."""

    def __init__(self, *answers: tuple[int, dict[str, str], bytes]) -> None:
        waiting = list(answers)
        self.received: list[tuple[str, str | None]] = []
        received = self.received

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                self.rfile.read(int(self.headers.get("content-length", 0)))
                received.append((self.path, self.headers.get("x-api-key")))
                status, headers, body = waiting.pop(0) if waiting else (200, {}, ACCOUNT)
                self.send_response(status)
                length = headers.get("content-length", str(len(body)))
                for name, value in {**headers, "content-length": length}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)
                self.close_connection = length != str(len(body))

            do_POST = do_DELETE = do_GET

            def log_message(self, *_: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()


def raise_unauthorized() -> None:
    raise DrapeApiError("No.", code="INVALID_API_KEY", status=401, details=[{"path": "x"}], request_id="r-1", retry_after=2.0)


class LineTest(unittest.TestCase):
    def start(self, *answers: tuple[int, dict[str, str], bytes]) -> Server:
        server = Server(*answers)
        self.addCleanup(server.stop)
        return server

    def client(self, url: str, **settings: Any) -> Drape:
        drape = Drape(url, **{"api_key": KEY, **settings})
        self.addCleanup(drape.close)
        return drape

    def assert_fails(self, call: Callable[[], object], code: str, status: int) -> DrapeApiError:
        with self.assertRaises(DrapeApiError) as caught:
            call()
        self.assertEqual((caught.exception.code, caught.exception.status), (code, status))
        return caught.exception

    def test_follows_no_redirect_and_names_its_target(self) -> None:
        other = self.start()
        for status in (301, 302, 303, 307, 308):
            for run in (lambda drape: drape.account(), lambda drape: drape.upload(b"photo")):
                server = self.start((status, {"location": f"{other.url}/there?signature=abc"}, b""))
                drape = self.client(server.url)
                error = self.assert_fails(lambda: run(drape), "UNEXPECTED_ANSWER", status)
                self.assertIn(f"{other.url}/there, which received neither the key nor data", str(error))
                self.assertEqual(len(server.received), 1)
        self.assertEqual(other.received, [])

    def test_trims_a_key_and_refuses_any_other_fault_without_showing_it(self) -> None:
        server = self.start()
        self.client(server.url, api_key=f"\ufeff {KEY}\r\n").account()
        self.assertEqual(server.received, [("/tryon/v1/account", KEY)])
        for key in ("sk_not\n_to", "sk_not_to…", "sk_not to", "sk_not_té", " ", ""):
            for client in (Drape, AsyncDrape):
                with self.subTest(key), self.assertRaisesRegex(ValueError, "^api_key (contains|is empty)") as caught:
                    client("http://127.0.0.1:1", api_key=key)
                self.assertNotIn("sk_", str(caught.exception))
        for url in (f"http://user:{KEY}@shop.example", KEY, f"http://[{KEY}"):
            with self.assertRaisesRegex(ValueError, "address of the service") as refused:
                Drape(url)
            self.assertNotIn(KEY, str(refused.exception))
        error = self.assert_fails(
            lambda: self.client(server.url).upload(b"x", idempotency_key="order\n1"), "VALIDATION_FAILED", 400
        )
        self.assertEqual(error.details[0]["path"], "idempotency-key")

    def test_shows_neither_key_nor_signature_in_logs_and_errors(self) -> None:
        result = b'{"resultImageUrl": "/objects/a.jpg?expires=1&signature=hush"}'
        server = self.start((200, {}, result), (200, {}, b"image"))
        with self.assertLogs("httpx", logging.INFO) as logs:
            self.assertEqual(self.client(server.url).download("gen_1"), b"image")
        self.assertEqual(server.received[1], ("/objects/a.jpg?expires=1&signature=hush", None))
        drape = self.client("http://127.0.0.1:1", retries=0)
        with self.assertRaises(DrapeConnectionError) as caught:
            drape.account()
        shown = f"{logs.output} {drape!r} {caught.exception!r} {caught.exception.__cause__!r}"
        self.assertIn("/objects/a.jpg", shown)
        for secret in ("hush", KEY):
            self.assertNotIn(secret, shown)

    def test_refuses_an_id_that_a_url_cannot_carry_before_the_request(self) -> None:
        server = self.start()
        drape = self.client(server.url)
        calls: list[Callable[[Any], object]] = [
            *(drape.product, drape.delete_product, drape.product_statistics, drape.erase_customer),
            *(drape.generation, drape.wait, drape.cancel, drape.download, drape.find_appeal),
            lambda one: drape.appeal(one, "It is a shirt."),
        ]
        for one in ("", ".", "..", "%2e", ".%2E", "%2e%2e", "\ud800", None):
            for call in calls:
                with self.subTest(repr(one)):
                    self.assert_fails(lambda: call(one), "VALIDATION_FAILED", 400)
        self.assertEqual(server.received, [])
        drape.product("a/../b %2e")
        self.assertEqual(server.received[0][0], "/tryon/v1/products/a%2F..%2Fb%20%252e")

    def test_retries_an_answer_that_cannot_be_read_then_raises_its_status(self) -> None:
        for answer in (
            (200, {"content-encoding": "gzip"}, ACCOUNT),
            (200, {"content-length": "1000"}, ACCOUNT),
            (200, {}, b"<html>sign in</html>"),
            (200, {}, b"null"),
            (200, {}, b"[" * 100_000),
            (200, {}, b'"\xff"'),
        ):
            with self.subTest(answer[2][:20]):
                self.assertEqual(self.client(self.start(answer).url).account()["id"], "acc_1")
                server = self.start(answer, answer)
                drape = self.client(server.url, retries=1)
                self.assert_fails(drape.account, "UNEXPECTED_ANSWER", 200)
                self.assertEqual(len(server.received), 2)
        refused = self.start((403, {"content-encoding": "gzip"}, b"{}"))
        self.assert_fails(self.client(refused.url).account, "UNEXPECTED_ANSWER", 403)

    def test_a_closed_client_says_so(self) -> None:
        drape = self.client("http://127.0.0.1:1")
        drape.close()
        with self.assertRaisesRegex(DrapeError, "The client is closed"):
            drape.account()

    def test_one_client_works_in_several_event_loops(self) -> None:
        server = self.start()
        drape = AsyncDrape(server.url, api_key=KEY)

        async def twice() -> list[Any]:
            return [(await drape.account())["id"] for _ in range(2)]

        for _ in range(3):
            self.assertEqual(asyncio.run(twice()), ["acc_1", "acc_1"])
        results: list[Any] = []
        threads = [threading.Thread(target=lambda: results.append(asyncio.run(twice()))) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(results, [["acc_1", "acc_1"]] * 3)
        asyncio.run(drape.close())
        with self.assertRaisesRegex(DrapeError, "The client is closed"):
            asyncio.run(twice())


class ErrorTest(unittest.TestCase):
    def test_errors_are_copied_and_pickled_whole(self) -> None:
        failed: Any = {"errorMessage": "No.", "errorCode": "INVALID_IMAGE", "errorDetails": [{"path": "x", "message": "y"}]}
        api = DrapeApiError("No.", code="FORBIDDEN", status=403, details={"a": 1}, request_id="r-1", retry_after=2.0)
        others = [one("No.") for one in (DrapeError, DrapeConnectionError, DrapeTimeoutError, DrapeWebhookError)]
        for error in (api, DrapeGenerationError(failed), *others):
            copies = [copy.copy(error), copy.deepcopy(error)]
            copies += [pickle.loads(pickle.dumps(error, protocol)) for protocol in range(pickle.HIGHEST_PROTOCOL + 1)]
            for one in copies:
                self.assertIs(type(one), type(error))
                self.assertEqual((str(one), one.args, vars(one)), (str(error), error.args, vars(error)))

    def test_an_error_leaves_a_process_of_a_pool(self) -> None:
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
            for _ in range(2):
                with self.assertRaises(DrapeApiError) as caught:
                    pool.submit(raise_unauthorized).result()
                error = caught.exception
                self.assertEqual((error.code, error.status, error.details), ("INVALID_API_KEY", 401, [{"path": "x"}]))


if __name__ == "__main__":
    unittest.main()
