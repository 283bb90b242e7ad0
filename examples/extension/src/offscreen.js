import { connect } from 'tabserve';

import { app } from './connection.js';

await connect(app);
