import features from '../../../../public/models/house-price/features.json' with { type: 'json' };
import { parseNumber } from '../../parts/format.ts';

type HouseFeature = (typeof features)[number];

/** In the order of the model's columns. */
export const HOUSE_FEATURES: readonly HouseFeature[] = features;

/** By the name of the field. */
export type FieldTexts = Readonly<Record<string, string>>;
export type FieldErrors = Readonly<Record<string, string>>;

/** One number per feature, in order. */
export type House = readonly number[];

/** How far a variation may be from its house, as a share of each feature's range; at least one step. */
const VARIATION = 0.35;

/** Checks the texts against the ranges that the model was trained on. */
export function parseHouse(texts: FieldTexts) {
  const errors: Record<string, string> = {};
  const house: House = HOUSE_FEATURES.map((feature) => {
    const text = (texts[feature.name] ?? '').trim();
    const value = parseNumber(text);
    const isStep = Math.abs(toStep(value, feature) - value) < 1e-9;
    if (!isStep || value < feature.min || value > feature.max) {
      errors[feature.name] =
        `Expected ${feature.step === 1 ? 'a whole number' : 'a number'} ${describeRange(feature)}, got “${text}”.`;
    }
    return value;
  });
  return Object.keys(errors).length > 0 ? { errors } : { house };
}

export function describeRange({ min, max, step }: HouseFeature): string {
  return step === 1 ? `from ${min} to ${max}` : `from ${min} to ${max} by ${step}`;
}

/** Whether the house has it or not. */
export function isSwitch({ min, max, step }: HouseFeature): boolean {
  return min === 0 && max === 1 && step === 1;
}

export function describeHouse(house: House): string {
  return HOUSE_FEATURES.map((feature, column) => {
    const { label, unit } = feature;
    const value = house[column] ?? '?';
    const [name] = label.split(' (');
    if (isSwitch(feature)) return value === 1 ? name : `no ${name?.toLowerCase()}`;
    return `${name} ${value}${unit && ` ${unit}`}`;
  }).join(' · ');
}

/** Its multiples, without their whole parts, spread evenly over 0 to 1. */
const GOLDEN_RATIO = (1 + Math.sqrt(5)) / 2;

/** The house itself, then variations of it within the ranges. They are the same every time, so that answers compare. */
export function varyHouse(house: House, numHouses: number): readonly House[] {
  const vary = (index: number): House =>
    HOUSE_FEATURES.map((feature, column) => {
      const reach = Math.max(feature.step, (feature.max - feature.min) * VARIATION);
      const share = (index * (column + 1) * GOLDEN_RATIO) % 1;
      const value = (house[column] ?? feature.default) + (share * 2 - 1) * reach;
      return toStep(Math.min(feature.max, Math.max(feature.min, value)), feature);
    });
  return Array.from({ length: numHouses }, (_, index) => (index === 0 ? house : vary(index)));
}

/** The nearest step, rounded to decimals: 0.1 · 3 is 0.3. */
function toStep(value: number, { min, step }: HouseFeature): number {
  return Number((min + Math.round((value - min) / step) * step).toFixed(6));
}
