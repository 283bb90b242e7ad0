import * as v from 'valibot';

import { systemClock } from '../../../batching/base/clock.ts';
import type { FoundModel } from '../../../protocol/found-model.ts';
import type { DeviceLimits } from '../checkpoint/device-fit.ts';
import { readsModelType } from '../families/families.ts';
import { lackOf } from '../families/lack-of.ts';
import { fitOfWeights } from './fit-of-weights.ts';
import { HubClient } from './hub-client.ts';
import { badAnswer } from './hub-errors.ts';

const NUM_MODELS = 12;

/** Fields requested for each model, besides its ID. */
const FIELDS = ['downloads', 'gated', 'config', 'safetensors', 'gguf'];

/** A hub may leave out any field but the ID. */
const listedModels = v.array(
  v.object({
    id: v.string(),
    downloads: v.optional(v.number(), 0),
    gated: v.optional(v.union([v.boolean(), v.string()]), false),
    config: v.nullish(v.object({ model_type: v.optional(v.string()) })),
    safetensors: v.nullish(v.object({ total: v.number() })),
    gguf: v.nullish(v.object({ total: v.optional(v.number()) })),
  }),
);

/** The models of a hub that match some words, the most downloaded first. @throws The errors of the hub's client. */
export async function searchModels(
  { hub, query }: { readonly hub: string; readonly query: string },
  device: DeviceLimits,
): Promise<readonly FoundModel[]> {
  const client = new HubClient({
    hub,
    id: query,
    clock: systemClock,
    random: Math.random,
    signal: new AbortController().signal,
  });
  const words = { search: query, sort: 'downloads', limit: String(NUM_MODELS) };
  const asked = new URLSearchParams([
    ...Object.entries(words),
    ...FIELDS.map((field) => ['expand[]', field]),
  ]);
  const answer = await client.fetch(`${hub}/api/models?${asked.toString()}`, 'its list of models');
  const parsed = v.safeParse(listedModels, await answer.json().catch(() => undefined));
  if (!parsed.success) throw badAnswer(hub, 'it sent something else than its list of models');
  return parsed.output.map((model) => describe(model, device));
}

function describe(model: v.InferOutput<typeof listedModels>[number], device: DeviceLimits): FoundModel {
  const { id, downloads: numDownloads, safetensors, gguf } = model;
  const total = safetensors?.total ?? gguf?.total;
  const numParameters = total === undefined ? undefined : Math.max(0, Math.round(total));
  return {
    id,
    numDownloads,
    isGguf: !safetensors && Boolean(gguf),
    obstacle: obstacleOf(model),
    ...(numParameters !== undefined && { numParameters, fit: fitOfWeights(numParameters, device) }),
  };
}

function obstacleOf({
  gated,
  config,
  safetensors,
  gguf,
}: v.InferOutput<typeof listedModels>[number]): string {
  if (gated !== false) return 'Gated: its authors give access';
  if (gguf && !safetensors) return '';
  const type = config?.model_type;
  if (type === undefined || readsModelType(type)) return '';
  const lack = lackOf(type);
  return `Models of type ${type} don’t run here${lack && `: ${lack}`}`;
}
