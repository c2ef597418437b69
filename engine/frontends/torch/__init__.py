"""PyTorch modules as programs; PyTorch itself is imported on first use only."""

from engine.frontends.torch.frontend import from_torch
from engine.frontends.torch.imported import Agreement, Imported, ImportedKernel, ImportedOutput

__all__ = ["Agreement", "Imported", "ImportedKernel", "ImportedOutput", "from_torch"]
