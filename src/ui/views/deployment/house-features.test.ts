import { describe, expect, it } from 'vitest';

import { describeHouse, HOUSE_FEATURES, parseHouse, varyHouse } from './house-features.ts';

const DEFAULT_HOUSE = HOUSE_FEATURES.map((feature) => feature.default);
const DEFAULT_TEXTS = Object.fromEntries(
  HOUSE_FEATURES.map((feature) => [feature.name, String(feature.default)]),
);

describe('parseHouse', () => {
  it('takes the defaults, in the order of the columns', () => {
    expect(parseHouse(DEFAULT_TEXTS)).toEqual({ house: DEFAULT_HOUSE });
  });

  it.each([
    ['livingArea', '29', 'a whole number from 30 to 300'],
    ['bedrooms', '2.5', 'a whole number from 1 to 7'],
    ['centerDistance', '8.25', 'a number from 0 to 40 by 0.1'],
    ['age', '', 'a whole number from 0 to 120'],
    ['hasGarage', 'yes', 'a whole number from 0 to 1'],
  ])('refuses %s of “%s” at its field', (name, text, expected) => {
    const { errors } = parseHouse({ ...DEFAULT_TEXTS, [name]: text });
    expect(errors).toEqual({ [name]: `Expected ${expected}, got “${text}”.` });
  });

  it('is not fooled by binary fractions', () => {
    expect(parseHouse({ ...DEFAULT_TEXTS, centerDistance: '0.3' }).errors).toBeUndefined();
  });
});

it('a house is described with the names of its features', () => {
  expect(describeHouse(DEFAULT_HOUSE)).toBe(
    'Living area 120 m² · Bedrooms 3 · Bathrooms 2 · Age 25 years · Distance to the center 8 km · Plot area 450 m² · Energy rating 0.6 · Garage',
  );
  expect(describeHouse([...DEFAULT_HOUSE.slice(0, -1), 0])).toMatch(/ · no garage$/);
});

describe('varyHouse', () => {
  it('starts with the house itself and repeats itself', () => {
    const houses = varyHouse(DEFAULT_HOUSE, 9);
    expect(houses).toHaveLength(9);
    expect(houses[0]).toEqual(DEFAULT_HOUSE);
    expect(varyHouse(DEFAULT_HOUSE, 100).slice(0, 9)).toEqual(houses);
  });

  it('gives houses that the form itself would take, all different', () => {
    const houses = varyHouse(DEFAULT_HOUSE, 100);
    for (const house of houses) {
      const texts = Object.fromEntries(
        HOUSE_FEATURES.map(({ name }, column) => [name, String(house[column])]),
      );
      expect(parseHouse(texts)).toEqual({ house });
    }
    expect(new Set(houses.map(describeHouse)).size).toBe(100);
    // Both kinds of a yes-or-no feature occur.
    expect(new Set(houses.map((house) => house.at(-1)))).toEqual(new Set([0, 1]));
  });
});
