/** A file of the model folder could not be fetched. */
export class ModelFileMissingError extends Error {
  override readonly name = 'ModelFileMissingError';
  readonly code = 'MODEL_FILE_MISSING';

  static of(url: string, status: string, cause?: unknown): ModelFileMissingError {
    return new ModelFileMissingError(
      `The model file ${url} could not be read (${status}): check that the model folder is complete and served.`,
      { cause },
    );
  }
}

/** A file of the model folder is there but damaged or not what its name says. */
export class ModelFileCorruptError extends Error {
  override readonly name = 'ModelFileCorruptError';
  readonly code = 'MODEL_FILE_CORRUPT';

  static of(file: string, detail: string, cause?: unknown): ModelFileCorruptError {
    return new ModelFileCorruptError(`${file} is damaged: ${detail}. Download the file again.`, { cause });
  }
}

/** The files are sound, but this runtime cannot run such a model. */
export class UnsupportedModelError extends Error {
  override readonly name = 'UnsupportedModelError';
  readonly code = 'UNSUPPORTED_MODEL';

  static of(detail: string): UnsupportedModelError {
    return new UnsupportedModelError(`${detail}. Choose a checkpoint of the GPT-2 architecture.`);
  }
}
