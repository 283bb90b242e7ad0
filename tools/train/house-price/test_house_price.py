import json
import unittest

import numpy as np
import onnx
import torch

from houses import FEATURES, PUBLISHED, draw, price
from train import FIXTURE, dense, fold, house_price_onnx, predict, reference

AREA = [feature["name"] for feature in FEATURES].index("livingArea")


class Formula(unittest.TestCase):
    def test_price_rises_with_living_area_whatever_else_the_house_is(self):
        houses = draw(500, np.random.default_rng(1))
        previous = np.zeros(len(houses))
        for area in range(FEATURES[AREA]["min"], FEATURES[AREA]["max"] + 1):
            houses[:, AREA] = area
            self.assertTrue((price(houses) > previous).all(), f"at {area} m²")
            previous = price(houses)

    def test_same_seed_draws_the_same_houses_within_the_ranges(self):
        houses = draw(2_000, np.random.default_rng(1))
        np.testing.assert_array_equal(houses, draw(2_000, np.random.default_rng(1)))
        for column, feature in enumerate(FEATURES):
            self.assertGreaterEqual(houses[:, column].min(), feature["min"])
            self.assertLessEqual(houses[:, column].max(), feature["max"])


class Export(unittest.TestCase):
    def test_file_gives_the_prices_of_the_network_with_separate_normalization(self):
        torch.manual_seed(1)
        houses = draw(200, np.random.default_rng(2))
        mean, deviation, offset, scale = houses.mean(0), houses.std(0), 12.8, 0.6
        network = dense(len(FEATURES))
        model = house_price_onnx(fold(network, mean, deviation, offset, scale))
        with torch.no_grad():
            normalized = torch.from_numpy((houses - mean) / deviation)
            expected = torch.exp(network.double()(normalized) * scale + offset).numpy()[:, 0]
        np.testing.assert_allclose(predict(model, houses), expected, rtol=1e-5)


class Published(unittest.TestCase):
    def test_reference_was_made_with_the_published_model(self):
        fixture = json.loads(FIXTURE.read_text())
        written = reference(onnx.load(PUBLISHED / "model.onnx"), fixture["seed"])
        expected = [house.pop("price") for house in fixture["houses"]]
        np.testing.assert_allclose([house.pop("price") for house in written["houses"]], expected, rtol=1e-12)
        self.assertEqual(written, fixture)


if __name__ == "__main__":
    unittest.main()
