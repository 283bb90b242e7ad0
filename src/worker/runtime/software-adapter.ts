/** Whether an adapter computes on the CPU, as SwiftShader, llvmpipe and WARP do. Kernels for the CPU are faster. */
export function isSoftware(info: GPUAdapterInfo): boolean {
  const names = `${info.vendor} ${info.architecture} ${info.device} ${info.description}`.toLowerCase();
  return info.isFallbackAdapter || /swiftshader|llvmpipe|lavapipe|warp|basic render/.test(names);
}
