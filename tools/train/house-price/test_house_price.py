"""python3 -m unittest, in this folder."""

import hashlib
import json
import unittest

import numpy as np
import torch

import onnx_reader
from houses import FEATURES, draw, price
from network import dense, fold, to_onnx
from train import FIXTURE, PUBLISHED

AREA = [feature.name for feature in FEATURES].index("livingArea")


class Formula(unittest.TestCase):
    def test_price_rises_with_living_area_whatever_else_the_house_is(self):
        houses = draw(500, np.random.default_rng(1))
        previous = np.zeros(len(houses))
        for area in range(int(FEATURES[AREA].min), int(FEATURES[AREA].max) + 1):
            houses[:, AREA] = area
            self.assertTrue((price(houses) > previous).all(), f"at {area} m²")
            previous = price(houses)

    def test_same_seed_draws_the_same_houses_within_the_ranges(self):
        houses = draw(2_000, np.random.default_rng(1))
        np.testing.assert_array_equal(houses, draw(2_000, np.random.default_rng(1)))
        for column, feature in enumerate(FEATURES):
            self.assertGreaterEqual(houses[:, column].min(), feature.min)
            self.assertLessEqual(houses[:, column].max(), feature.max)
            self.assertTrue(feature.min <= feature.default <= feature.max)


class Export(unittest.TestCase):
    def test_file_gives_the_prices_of_the_network_with_separate_normalization(self):
        torch.manual_seed(1)
        houses = draw(200, np.random.default_rng(2))
        mean, deviation, offset, scale = houses.mean(0), houses.std(0), 12.8, 0.6
        network = dense(len(FEATURES))
        model = to_onnx(fold(network, mean, deviation, offset, scale), len(FEATURES))
        with torch.no_grad():
            normalized = torch.from_numpy((houses - mean) / deviation)
            expected = torch.exp(network.double()(normalized) * scale + offset).numpy()
        np.testing.assert_allclose(onnx_reader.run(model, houses), expected, rtol=1e-5)


class Published(unittest.TestCase):
    def test_reference_was_made_with_the_published_model(self):
        model, fixture = (PUBLISHED / "model.onnx").read_bytes(), json.loads(FIXTURE.read_text())
        self.assertEqual(fixture["modelSha256"], hashlib.sha256(model).hexdigest())
        self.assertEqual(fixture["columns"], [f["name"] for f in json.loads((PUBLISHED / "features.json").read_text())])
        houses = np.array([house["features"] for house in fixture["houses"]])
        prices = [house["price"] for house in fixture["houses"]]
        np.testing.assert_allclose(onnx_reader.run(model, houses)[:, 0], prices, rtol=1e-12)


if __name__ == "__main__":
    unittest.main()
