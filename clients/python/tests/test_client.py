"""Both kinds of client against a real service, which the environment names."""

from __future__ import annotations

import asyncio
import io
import os
import sys
import unittest
from pathlib import Path

from drape_client import (
    MAX_FILE_BYTES,
    AsyncDrape,
    Drape,
    DrapeApiError,
    DrapeConnectionError,
    DrapeGenerationError,
    DrapeTimeoutError,
    MaskInput,
)
from flaky_line import FlakyLine

URL = os.environ["BASE_URL"]
KEY = os.environ["API_KEY"]
TEST_KEY = os.environ["TEST_API_KEY"]
PERSON = Path(os.environ["PERSON_PHOTO"])
SHIRT = Path(os.environ["GARMENT_PHOTO"])
PRODUCT = {"title": "T-shirt", "images": [SHIRT]}


class SyncTest(unittest.TestCase):
    def setUp(self) -> None:
        self.drape = Drape(URL, api_key=KEY)
        self.addCleanup(self.drape.close)

    def test_try_on_reports_progress_until_the_result(self) -> None:
        statuses: list[str] = []
        call = self.drape.try_on(person=PERSON, product=PRODUCT)
        generation = call.wait(on_progress=lambda one: statuses.append(one["status"]), poll_interval=0.1)
        self.assertEqual(generation["generationId"], call.generation_id)
        self.assertEqual(statuses[-1], "COMPLETED")
        image = call.download()
        self.assertTrue(image is not None and image.startswith(b"\xff\xd8\xff"))

    def test_tries_on_an_outfit(self) -> None:
        call = self.drape.outfit(person=PERSON, products=[PRODUCT, {**PRODUCT, "layer": "outerwear"}], partial="allowed")
        self.assertEqual([layer["layer"] for layer in call.accepted["layers"]], ["tops", "outerwear"])
        generation = call.wait(poll_interval=0.1)
        self.assertEqual([layer["applied"] for layer in generation["layers"]], [True, True])

    def test_sends_a_mask_as_the_photo(self) -> None:
        masks: list[MaskInput] = [{"image": PERSON, "keep": True}, {"image": {"source": PERSON.read_bytes()}}]
        for mask in masks:
            self.drape.try_on(person=PERSON, product=PRODUCT, output={"engine": "mock", "mask": mask})
        with self.assertRaises(DrapeApiError) as caught:
            self.drape.try_on(person=PERSON, product=PRODUCT, output={"mask": {"image": b"no image"}})
        self.assertEqual([detail["path"] for detail in caught.exception.details], ["output.mask.image"])

    def test_uploads_from_a_path_bytes_and_a_file(self) -> None:
        with PERSON.open("rb") as file:
            ids = {self.drape.upload(photo)["imageId"] for photo in (PERSON, PERSON.read_bytes(), file)}
        self.assertEqual(len(ids), 3)
        uploaded = self.drape.upload(PERSON, crop=False, external_user_id="python", keep_for_days=1)
        accepted = self.drape.try_on(person={"id": uploaded["imageId"]}, product=PRODUCT, external_user_id="python")
        accepted.wait(poll_interval=0.1)
        self.drape.erase_customer("python")
        self.assertIsNone(accepted.download())

    def test_counts_visitors_by_day(self) -> None:
        analytics = self.drape.analytics(from_day="2026-01-01", to_day="2026-01-03")
        self.assertEqual(analytics["timeZone"], "UTC")
        self.assertEqual([day["day"] for day in analytics["days"]], ["2026-01-01", "2026-01-02", "2026-01-03"])
        with self.assertRaises(DrapeApiError) as caught:
            self.drape.analytics(shop="nowhere.example")
        self.assertEqual(caught.exception.code, "VALIDATION_FAILED")

    def test_refuses_images_before_anything_is_sent(self) -> None:
        nowhere = Drape("http://127.0.0.1:1", retries=0)
        self.addCleanup(nowhere.close)
        with self.assertRaises(DrapeApiError) as caught:
            nowhere.upload(bytes(MAX_FILE_BYTES + 1))
        self.assertEqual(caught.exception.code, "FILE_TOO_LARGE")
        with self.assertRaises(TypeError):
            nowhere.upload("me.jpg")  # type: ignore[arg-type]
        with self.assertRaises(FileNotFoundError):
            nowhere.upload(Path("/nowhere/me.jpg"))
        with self.assertRaises(DrapeConnectionError):
            nowhere.credits()

    def test_refuses_a_url_that_is_none(self) -> None:
        for url in ("nonsense", "ftp://shop.example", "https://", ""):
            with self.subTest(url), self.assertRaisesRegex(ValueError, "address of the service"):
                Drape(url)

    def test_errors_have_code_details_and_request(self) -> None:
        with self.assertRaises(DrapeApiError) as caught:
            self.drape.try_on(person=b"short", product=PRODUCT)
        error = caught.exception
        self.assertEqual((error.code, error.status), ("INVALID_IMAGE", 400))
        self.assertEqual(error.details[0]["path"], "person.image")
        self.assertTrue(error.request_id)
        with self.assertRaises(DrapeApiError) as unknown:
            Drape(URL, api_key="sk_wrong").credits()
        self.assertEqual((unknown.exception.code, unknown.exception.status), ("INVALID_API_KEY", 401))
        line = FlakyLine(URL)
        self.addCleanup(line.stop)
        line.refuse = 1
        with self.assertRaises(DrapeApiError) as page:
            Drape(line.url, api_key=KEY, retries=0).account()
        answer = page.exception
        self.assertEqual((answer.code, answer.status, answer.retry_after), ("UNEXPECTED_ANSWER", 503, 0.0))

    def test_a_generation_fails_with_its_code(self) -> None:
        drape = Drape(URL, api_key=TEST_KEY)
        self.addCleanup(drape.close)
        call = drape.try_on(person=PERSON, product=PRODUCT, external_user_id="test_RESULT_REJECTED")
        with self.assertRaises(DrapeGenerationError) as caught:
            call.wait(poll_interval=0.1)
        self.assertEqual(caught.exception.code, "RESULT_REJECTED")
        slow = drape.try_on(person=PERSON, product=PRODUCT, external_user_id="test_delay_300s")
        with self.assertRaises(DrapeTimeoutError):
            slow.wait(timeout=0.1, poll_interval=0.05)
        self.assertEqual(slow.cancel()["status"], "FAILED")

    def test_appeals_a_refusal_and_reads_the_decision(self) -> None:
        drape = Drape(URL, api_key=os.environ["REFUSED_KEY"])
        self.addCleanup(drape.close)
        refused = os.environ["REFUSED_ID"]
        self.assertIn("/appeal/", drape.generation(refused)["appealUrl"])
        appealed = drape.appeal(refused, "It is a shirt.")
        self.assertEqual((appealed["state"], appealed["reason"]), ("OPEN", "It is a shirt."))
        self.assertEqual(drape.find_appeal(refused), appealed)
        self.assertIsNone(drape.find_appeal(os.environ["UNASKED_ID"]))
        with self.assertRaises(DrapeApiError) as caught:
            drape.find_appeal("gen_unknown")
        self.assertEqual(caught.exception.code, "GENERATION_NOT_FOUND")

    def test_repeats_a_lost_answer_and_a_refusal_and_is_charged_once(self) -> None:
        line = FlakyLine(URL)
        self.addCleanup(line.stop)
        drape = Drape(line.url, api_key=KEY)
        self.addCleanup(drape.close)
        before = drape.credits()["creditBalance"]
        line.refuse, line.lose = 1, 1
        drape.try_on(person=PERSON, product=PRODUCT)
        self.assertEqual(len(line.keys), 3)
        self.assertEqual(len(set(line.keys)), 1)
        self.assertEqual(drape.credits()["creditBalance"], before - 1)
        line.lose = 1
        with self.assertRaises(DrapeConnectionError):
            Drape(line.url, api_key=KEY, retries=0).credits()

    def test_a_key_of_the_caller_outlives_the_program(self) -> None:
        first, second = (
            self.drape.try_on(person=PERSON, product=PRODUCT, idempotency_key=f"order-{os.getpid()}") for _ in range(2)
        )
        self.assertEqual(first.generation_id, second.generation_id)

    #: Statistics outlive a product, and several versions of Python run these tests.
    catalog = f"python-{sys.version_info.minor}"

    def test_keeps_a_catalog(self) -> None:
        for number in range(3):
            self.drape.upsert_product({"externalId": f"{self.catalog}/{number} ü", "title": "T-shirt", "images": [SHIRT]})
        page = self.drape.products(limit=2)
        self.assertEqual((len(page["items"]), bool(page["nextCursor"])), (2, True))
        ids = [product["externalId"] for product in self.drape.each_product()]
        self.assertEqual(len(ids), len(set(ids)))
        self.assertEqual(self.drape.product(f"{self.catalog}/1 ü")["title"], "T-shirt")
        self.drape.try_on(person=io.BytesIO(PERSON.read_bytes()), product=f"{self.catalog}/1 ü").wait(poll_interval=0.1)
        self.assertEqual(self.drape.product_statistics(f"{self.catalog}/1 ü")["totalGenerations"], 1)
        for number in range(3):
            self.drape.delete_product(f"{self.catalog}/{number} ü")
        self.assertIn("mock", [engine["name"] for engine in self.drape.engines()["engines"]])
        self.assertTrue(self.drape.account()["isActive"])


class AsyncTest(unittest.IsolatedAsyncioTestCase):
    async def test_tries_on_several_at_a_time(self) -> None:
        async with AsyncDrape(URL, api_key=KEY) as drape:
            calls = [drape.try_on(person=PERSON, product=PRODUCT) for _ in range(3)]
            ended = await asyncio.gather(*(call.wait(poll_interval=0.1) for call in calls))
            self.assertEqual({one["status"] for one in ended}, {"COMPLETED"})
            self.assertEqual(len({one["generationId"] for one in ended}), 3)
            accepted = await calls[0]
            self.assertEqual(accepted["generationId"], ended[0]["generationId"])
            image = await calls[0].download()
            self.assertTrue(image is not None and image.startswith(b"\xff\xd8\xff"))

    async def test_is_charged_once_over_a_lost_answer(self) -> None:
        line = FlakyLine(URL)
        self.addCleanup(line.stop)
        async with AsyncDrape(line.url, api_key=KEY) as drape:
            before = (await drape.credits())["creditBalance"]
            line.lose = 1
            call = drape.try_on(person=PERSON, product=PRODUCT)
            first, again = await asyncio.gather(call, call)
            self.assertEqual(first["generationId"], again["generationId"])
            self.assertEqual(len(set(line.keys)), 1)
            self.assertEqual((await drape.credits())["creditBalance"], before - 1)

    async def test_errors_are_the_same(self) -> None:
        async with AsyncDrape(URL, api_key="sk_wrong") as drape:
            with self.assertRaises(DrapeApiError) as caught:
                await drape.account()
            self.assertEqual(caught.exception.code, "INVALID_API_KEY")
        async with AsyncDrape(URL, api_key=KEY) as drape:
            uploaded = await drape.upload(PERSON)
            self.assertTrue(uploaded["imageId"])
            self.assertIsInstance([one async for one in drape.each_product()], list)


if __name__ == "__main__":
    unittest.main()
