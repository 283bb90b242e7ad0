/** Tests that are not to pass. */
interface Exception {
  /** The beginning of a file's path below `ai/language-model/`. */
  readonly file: string;
  /** A test of the file; all where it is left out. */
  readonly test?: string;
  readonly reason: string;
}

/** Expected results of the Web Platform Tests. Tests that are not listed pass. */
export const EXPECTED: {
  readonly doesNotApply: readonly Exception[];
  readonly fails: readonly Exception[];
} = {
  doesNotApply: [
    {
      file: 'prompt/multimodal/',
      reason: 'Images, audio and video are not supported: create() rejects with NotSupportedError.',
    },
    {
      file: 'language-model-prompt-multimodal',
      reason: 'Images, audio and video are not supported: create() rejects with NotSupportedError.',
    },
    {
      file: 'language-model-create-multimodal',
      reason: 'Images, audio and video are not supported: create() rejects with NotSupportedError.',
    },
    {
      file: 'language-model-availability-available-multimodal',
      reason: 'Images, audio and video are not supported: availability() is unavailable.',
    },
    {
      file: 'language-model-tool-use',
      reason: "The tests' model has a chat template that takes no tools.",
    },
    {
      file: 'language-model-iframe',
      reason: 'The permissions policy of another document is not for a script to read.',
    },
    {
      file: 'language-model-from-detached-iframe',
      reason: 'Each document installs its own class; that of a detached frame has none.',
    },
    {
      file: 'prompt/context/destroyed',
      reason: 'Each document installs its own class; a new frame has none.',
    },
    {
      file: 'prompt/prompt-simple-question',
      reason: "Asks what the model knows. The tests' model has random weights.",
    },
    {
      file: 'prompt/context/usage-initial-prompt',
      reason:
        "Ends by asking what the model knows. The tests' model has random weights; e2e/prompt-api.spec.ts checks the usage.",
    },
    {
      file: 'language-model-create-transient-user-activation',
      reason:
        'Asks for transient activation. The specification asks for sticky activation, as the newer test does.',
    },
  ],
  fails: [
    {
      file: 'language-model-destroy',
      reason: 'Expects InvalidStateError after destroy(). The specification says AbortError.',
    },
    {
      file: 'language-model-clone',
      reason: 'Compares inputUsage and inputQuota, which the specification keeps for extensions.',
    },
    {
      file: 'language-model-create-sampling-mode',
      test: 'LanguageModel.create() accepts all valid sampling modes and preserves samplingMode on clone()',
      reason: 'Expects slightly-predictable and slightly-creative, which the specification does not have.',
    },
  ],
};
