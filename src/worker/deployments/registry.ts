import type { AnyDeployment } from './deployment.ts';

interface DeploymentModule {
  readonly deployment: AnyDeployment;
}

/** Every `<name>.deployment.ts` of this folder: a new file is all that a new deployment takes. */
export const deployments: readonly AnyDeployment[] = Object.values(
  import.meta.glob<DeploymentModule>('./*.deployment.ts', { eager: true }),
).map((module) => module.deployment);
