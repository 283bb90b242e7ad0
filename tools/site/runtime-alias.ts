/** The tokenizers' library imports a build of onnxruntime-web of 27 MB that nothing of ours runs: its types' package stands in. */
export const RUNTIME_ALIAS = { 'onnxruntime-web/webgpu': 'onnxruntime-common' };
