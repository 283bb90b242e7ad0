import ray
import requests

def send_query(text):
    resp ="http://localhost:8000/", params={"text": text})
    return resp.text

# Example batch of queries
texts = [
    'Once upon a time,',
    'Hi my name is Lewis and I like to',
    'In a galaxy far far away',

# Send all queries in parallel
results = ray.get([send_query.remote(text) for text in texts])
