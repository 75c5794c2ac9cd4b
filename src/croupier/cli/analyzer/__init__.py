"""Commands of the analyzer."""
