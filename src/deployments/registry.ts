import { adder } from './adder.ts';
import { housePrice } from './house-price.ts';
import type { DeploymentTypes } from '../protocol/deployment.ts';

/** The deployments that the page serves besides the text generator. */
export const deployments = [adder, housePrice] as const;

/** Inputs and outputs of the page's deployments. */
export type PageDeployments = DeploymentTypes<typeof deployments>;
