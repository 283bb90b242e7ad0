import { startWorker } from 'tabserve/worker';

import { digits } from './digits.ts';
import { flowers } from './flowers.ts';
import { topics } from './topics.ts';

export const deployments = [flowers, topics, digits] as const;

startWorker({ deployments });
