from ray import serve
from starlette.requests import Request
import numpy as np
import tensorflow as tf
@serve.deployment(num_replicas=1)
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
app = serve.run(HousePricePredictor.bind())
