import type { AnyDeployment } from './deployment.ts';

interface DeploymentModule {
  readonly deployment: AnyDeployment;
}

/** Every `<name>.deployment.ts` in this folder. A new deployment is a new file. */
export const deployments: readonly AnyDeployment[] = Object.values(
  import.meta.glob<DeploymentModule>('./*.deployment.ts', { eager: true }),
).map((module) => module.deployment);
