"""The third tutorial: its predictor, and the same with the batching that Ray has. `@serve.batch` takes what it calls `max_batch_size` and `timeout_s`."""

from ray import serve
from starlette.requests import Request
import numpy as np
import tensorflow as tf


class HousePricePredictor:
    def __init__(self):
        # Load a pre-trained Keras model
        self.model = tf.keras.models.load_model("house_price_model.h5")

    async def __call__(self, request: Request):
        data = await request.json()
        # Convert input data to a NumPy array and then to a TensorFlow tensor
        input_data = tf.constant(np.array(data['features']), dtype=tf.float32)
        predictions = self.model.predict(input_data)
        return {"predictions": predictions.tolist()}


class BatchedHousePricePredictor(HousePricePredictor):
    @serve.batch(max_batch_size=32, batch_wait_timeout_s=0.1)
    async def predict(self, houses):
        print("Our input array has length:", len(houses))
        input_data = tf.constant(np.array(houses), dtype=tf.float32)
        return self.model.predict(input_data).tolist()

    async def __call__(self, request: Request):
        data = await request.json()
        return {"predictions": [await self.predict(data["features"])]}


unbatched = serve.deployment(num_replicas=1)(HousePricePredictor).bind()
app = serve.deployment(num_replicas=1, max_ongoing_requests=64)(BatchedHousePricePredictor).bind()
