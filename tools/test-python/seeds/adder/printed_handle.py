"""The handle's lines, on a deployment that can be served."""

import ray

from batch_adder import BatchAdder

handle = BatchAdder.get_handle()
input_batch = list(range(9))
print("Input batch is", input_batch)

result_batch = ray.get([handle.handle_batch.remote(i) for i in input_batch])
print("Result batch is", result_batch)
