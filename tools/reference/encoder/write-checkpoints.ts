import { ENCODERS } from '../../hub-server/checkpoints/encoders.ts';
import { writeCheckpoints } from '../../hub-server/checkpoints/write-checkpoints.ts';

const [folder] = process.argv.slice(2);
if (folder === undefined) throw new Error('Expected a folder to write the checkpoints to.');
writeCheckpoints(folder, ENCODERS);
