"""POST /images/upload."""

import zlib

from case import PERSON, InterfaceTest
from service import call, send, upload


class Uploads(InterfaceTest):
    def test_stores_a_photo_and_previews_it(self):
        body = self.assertSuccess(upload(PERSON))
        self.assertIsInstance(body["imageId"], str)
        preview = send("GET", body["imageUrl"])
        self.assertEqual(preview.status, 200)
        self.assertRegex(preview.headers["Content-Type"], "^image/")

    def test_takes_every_field(self):
        for fields in (
            {"crop": "true", "externalUserId": "user-1", "keepForDays": "1"},
            {"crop": "false", "keepForDays": "3"},
            {"crop": "False", "keepForDays": "7"},
            {"customerId": "user-1", "retentionDays": "3"},
            {"keepForDays": ""},
        ):
            with self.subTest(fields):
                self.assertSuccess(upload(PERSON, **fields))

    def test_crops_to_four_by_five_unless_it_is_told_not_to(self):
        cropped, whole = (self.size(upload(PERSON, crop=crop).body["imageUrl"]) for crop in ("true", "false"))
        self.assertAlmostEqual(cropped[0] / cropped[1], 0.8, delta=0.01)
        self.assertGreaterEqual(whole[0] * whole[1], cropped[0] * cropped[1])

    def size(self, url):
        """Width and height of a JPEG or PNG."""
        content = send("GET", url).content
        if content.startswith(b"\x89PNG"):
            return int.from_bytes(content[16:20]), int.from_bytes(content[20:24])
        at = 2
        while content[at + 1] not in (0xC0, 0xC1, 0xC2):
            at += 2 + int.from_bytes(content[at + 2 : at + 4])
        return int.from_bytes(content[at + 7 : at + 9]), int.from_bytes(content[at + 5 : at + 7])

    def test_refuses_what_is_no_photo(self):
        self.assertError(call("POST", "/images/upload", fields={"crop": "true"}), 400, "FILE_REQUIRED")
        self.assertError(upload(b"tiny"), 400, "INVALID_IMAGE")
        self.assertError(upload(b"GIF89a" + bytes(1000)), 400, "UNSUPPORTED_IMAGE_TYPE")
        self.assertError(upload(b"%PDF-1.7 " + bytes(1000)), 400, "UNSUPPORTED_IMAGE_TYPE")
        self.assertError(upload(PERSON + bytes(10 * 1024 * 1024)), 413, "FILE_TOO_LARGE")
        self.assertError(upload(PERSON, keepForDays="2"), 400, "VALIDATION_FAILED")
        self.assertError(upload(PERSON, crop="maybe"), 400, "VALIDATION_FAILED")

    def test_takes_png(self):
        row = b"\x00" + b"\xc8\x96\x64" * 200

        def chunk(kind, data):
            return len(data).to_bytes(4) + kind + data + zlib.crc32(kind + data).to_bytes(4)

        header = (200).to_bytes(4) + (250).to_bytes(4) + bytes([8, 2, 0, 0, 0])
        png = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(row * 250)) + chunk(b"IEND", b"")
        self.assertSuccess(upload(png))
