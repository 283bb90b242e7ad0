"""The second printed program with its indentation, which the print lost."""

from ray import serve
from starlette.requests import Request
import numpy as np
import tensorflow as tf


@serve.deployment(
    num_replicas=1,
    # Configure dynamic batching
    batching_config={
        "max_batch_size": 32,  # Maximum number of requests to group
        "timeout_s": 0.1,  # Max time to wait for a batch to fill
        "stride_s": 0,  # Process batches as soon as they are ready
        "allow_small_batch": True,  # Allow batches smaller than max_batch_size
    },
)
class HousePricePredictor:
    def __init__(self):
        self.model = tf.keras.models.load_model("house_price_model.h5")

    async def __call__(self, request: Request):
        data = await request.json()
        input_data = tf.constant(np.array(data['features']), dtype=tf.float32)
        # The predict method now receives a batch of inputs
        predictions = self.model.predict(input_data)
        return {"predictions": predictions.tolist()}


app = serve.run(HousePricePredictor.bind())
