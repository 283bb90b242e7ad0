"""The second printed program with the batching that Ray has: `max_batch_size` and `timeout_s` go to `@serve.batch`."""

from ray import serve
from starlette.requests import Request
import numpy as np
import tensorflow as tf


@serve.deployment(num_replicas=1, max_ongoing_requests=64)
class HousePricePredictor:
    def __init__(self):
        self.model = tf.keras.models.load_model("house_price_model.h5")

    @serve.batch(max_batch_size=32, batch_wait_timeout_s=0.1)
    async def predict(self, houses):
        print("Our input array has length:", len(houses))
        input_data = tf.constant(np.array(houses), dtype=tf.float32)
        return self.model.predict(input_data).tolist()

    async def __call__(self, request: Request):
        data = await request.json()
        return {"predictions": [await self.predict(data["features"])]}


app = serve.run(HousePricePredictor.bind())
