from ray import serve

handle = serve.get_app_handle("adder")
input_batch = list(range(9))
print("Input batch is", input_batch)

responses = [handle.handle_batch.remote(i) for i in input_batch]
result_batch = [response.result() for response in responses]
print("Result batch is", result_batch)
