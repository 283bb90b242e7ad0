import { useStore } from 'zustand';

import type { EncoderInfo } from '../../../client/index.ts';
import { createRequiredContext } from '../../parts/required-context.ts';
import { useServeView } from '../../state/serve-context.ts';
import type { EmbedRoom, EmbedView } from './embed-room.ts';

export const [EmbedContext, useEmbedRoom] = createRequiredContext<EmbedRoom>('EmbedContext');

/** Renders again only when the selected value changes. */
export function useEmbedView<Selected>(select: (view: EmbedView) => Selected): Selected {
  return useStore(useEmbedRoom().store, select);
}

/** The model of this deployment, if one serves. */
export function useEncoder(deployment: string): EncoderInfo | undefined {
  return useServeView(({ status }) => status.encoders?.find((info) => info.deployment === deployment));
}
