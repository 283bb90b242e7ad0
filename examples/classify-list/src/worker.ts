import { startWorker } from 'tabserve/worker';

import { deployments } from './deployments.ts';

startWorker({ deployments });
