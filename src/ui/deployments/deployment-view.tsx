import { AnswerList } from '../answers/answer-list.tsx';
import { BatchTable } from '../batches/batch-table.tsx';
import { TimelinePanel } from '../batches/timeline-panel.tsx';
import { AdderForm } from './adder-form.tsx';
import { TabPanel } from '../tab-list.tsx';
import './deployment-view.css';
import { HousePriceForm } from './house-price-form.tsx';
import { JsonForm } from './json-form.tsx';
import { KnobsPanel } from './knobs-panel.tsx';

interface DeploymentViewProps {
  readonly name: string;
  readonly isShown: boolean;
}

/** A deployment that is batched by request. */
export function DeploymentView({ name, isShown }: DeploymentViewProps) {
  return (
    <TabPanel id={name} className="workspace">
      <div className="rail">
        <DeploymentForm name={name} />
        <KnobsPanel name={name} />
      </div>
      {/* A hidden view keeps its input alone; all else comes from the store. */}
      {isShown && (
        <div className="stage">
          <TimelinePanel deployment={name} />
          <div className="stage-lists">
            <AnswerList deployment={name} />
            <BatchTable deployment={name} />
          </div>
        </div>
      )}
    </TabPanel>
  );
}

function DeploymentForm({ name }: { readonly name: string }) {
  if (name === 'adder') return <AdderForm />;
  if (name === 'house-price') return <HousePriceForm />;
  return <JsonForm deployment={name} />;
}
