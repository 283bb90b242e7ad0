import { adder } from './adder.deployment.ts';
import { housePrice } from './house-price.deployment.ts';
import type { DeploymentTypes } from './deployment.ts';

/** The deployments that the page serves besides the text generator. */
export const deployments = [adder, housePrice] as const;

/** Inputs and outputs of the page's deployments. */
export type PageDeployments = DeploymentTypes<typeof deployments>;
