const NUM_ROWS = 300;

/** Rows that share a beginning run one after another. */
const BEGINNINGS = ['a'.repeat(200), 'b'.repeat(200), ''];

/**
 * Lines of a batch file, each with the text of a model that answers with the prompt and the seed. The page, `run-batch` and
 * `/v1/batches` have to give these texts.
 */
export const BATCH_FILE = Array.from({ length: NUM_ROWS }, (_, index) => {
  const prompt = `${BEGINNINGS[index % 3]} row ${index}`;
  const seed = index % 10 === 0 ? 1000 + index : undefined;
  const request = {
    custom_id: `row-${index}`,
    method: 'POST',
    url: '/v1/completions',
    body: { prompt, max_tokens: 8, seed },
  };
  return { line: JSON.stringify(request), text: `${prompt} ${seed ?? index}` };
});

export const FILE_CONTENT = BATCH_FILE.map(({ line }) => `${line}\n`).join('');

export const FILE_TEXTS = BATCH_FILE.map(({ text }) => text);
