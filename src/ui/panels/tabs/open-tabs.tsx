import { useShallow } from 'zustand/shallow';

import { useServeView } from '../../state/serve-context.ts';
import { tabColor } from '../slots/tab-colors.ts';
import { SecondTabButton } from '../tour/second-tab-button.tsx';
import { describeTab, tabsIn } from './tab-rows.ts';

/** The tabs that share the model, each in the color of its bars, and a way to one more. */
export function OpenTabs() {
  const numbers = useServeView(useShallow(tabsIn));
  const own = useServeView(({ status }) => status.tabs.find(({ isThis }) => isThis)?.number);
  const texts = useServeView(useShallow((view) => numbers.map((number) => describeTab(number, view))));
  return (
    <div className="run-line cluster note">
      <ul className="run-text slots-head cluster" aria-label="Tabs">
        {numbers.map((number, index) => (
          <li key={number}>
            <span
              className="slots-chip"
              style={{ background: `var(${tabColor(number === own ? undefined : number)})` }}
            />
            {texts[index]}
          </li>
        ))}
      </ul>
      <SecondTabButton />
    </div>
  );
}
