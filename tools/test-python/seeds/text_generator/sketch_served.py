from ray import serve

from sketch import BatchingDeployment

app = serve.deployment(BatchingDeployment).bind()
