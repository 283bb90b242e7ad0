import { DECODERS } from '../../hub-server/checkpoints/decoders.ts';
import { writeCheckpoints } from '../../hub-server/checkpoints/write-checkpoints.ts';

const [folder] = process.argv.slice(2);
if (folder === undefined) throw new Error('Expected a folder to write the checkpoints to.');
writeCheckpoints(folder, DECODERS);
